//! The format of payloads. Files and error texts were seen on OpenTofu 1.12.6.

use super::*;

fn meta(pairs: &[(&str, &str)]) -> Meta {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec())).collect()
}

#[test]
fn layouts_are_those_of_opentofu() {
    let outside = Outside { serial: Some(7), lineage: "a<b".into() };
    let meta = meta(&[("key_provider.pbkdf2.b", "{}"), ("a", "")]);
    let compact = br#"{"serial":7,"lineage":"a\u003cb","meta":{"a":"","key_provider.pbkdf2.b":"e30="},"encrypted_data":"AAE=","encryption_version":"v0"}"#;
    assert_eq!(write(Some(&outside), &meta, &[0, 1], false), compact);
    let indented = "{\n  \"serial\": 7,\n  \"lineage\": \"a\\u003cb\",\n  \"meta\": {\n    \"a\": \"\",\n    \
                    \"key_provider.pbkdf2.b\": \"e30=\"\n  },\n  \"encrypted_data\": \"AAE=\",\n  \"encryption_version\": \"v0\"\n}\n";
    assert_eq!(String::from_utf8(write(Some(&outside), &meta, &[0, 1], true)).unwrap(), indented);
    let plan = br#"{"meta":{},"encrypted_data":"","encryption_version":"v0"}"#;
    assert_eq!(write(None, &Meta::new(), &[], false), plan);
    for text in [&compact[..], indented.as_bytes()] {
        let read = read(text).unwrap();
        assert_eq!(read, Payload { meta: meta.clone(), data: vec![0, 1], version: "v0".into() });
        assert_eq!(super::outside(text).unwrap(), outside);
    }
}

#[test]
fn readers_take_what_go_takes() {
    let text = br#" {"ENCRYPTION_version":"v0","more":[1],"Meta":null,"encrypted_data":"x","encrypted_data":"AA=="} "#;
    assert_eq!(read(text).unwrap(), Payload { data: vec![0], version: "v0".into(), ..Payload::default() });
    assert_eq!(outside(br#"{"serial":null}"#).unwrap(), Outside::default());
    assert!(is_sealed(br#"{"encryption_version":"v9"}"#));
    assert!(!is_sealed(br#"{"encryption_version":""}"#) && !is_sealed(br#"{"version":4}"#) && !is_sealed(b"PK"));
}

#[test]
fn errors_have_the_texts_of_go() {
    let cases: [(&[u8], &str); 9] = [
        (b"", "unexpected end of JSON input"),
        (b"{\"a\":", "unexpected end of JSON input"),
        (b"hello", "invalid character 'h' looking for beginning of value"),
        (b"\xef\xbb\xbf{}", "invalid character '\u{ef}' looking for beginning of value"),
        (b"{} x", "invalid character 'x' after top-level value"),
        (b"[1]", "json: cannot unmarshal array into Go value of type encryption.basedata"),
        (
            br#"{"meta":[]}"#,
            "json: cannot unmarshal array into Go struct field basedata.meta of type encryption.keyProviderMetamap",
        ),
        (
            br#"{"encryption_version":0}"#,
            "json: cannot unmarshal number into Go struct field basedata.encryption_version of type string",
        ),
        (br#"{"meta":{"a":"!"}}"#, "illegal base64 data at input byte 0"),
    ];
    for (content, expected) in cases {
        assert_eq!(read(content).unwrap_err().to_string(), expected, "{content:?}");
    }
    assert!(outside(br#"{"serial":"7"}"#).is_err());
}

proptest::proptest! {
    #[test]
    fn what_is_written_is_read(data: Vec<u8>, names in proptest::collection::vec(".*", 0..3), serial: Option<i64>, lineage: String, indented: bool) {
        let meta: Meta = names.into_iter().map(|name| (name, data.clone())).collect();
        let around = Outside { serial, lineage };
        let text = write(Some(&around), &meta, &data, indented);
        proptest::prop_assert_eq!(read(&text).unwrap(), Payload { meta, data, version: VERSION.into() });
        proptest::prop_assert_eq!(outside(&text).unwrap(), around);
    }

    #[test]
    fn no_content_is_too_odd(content: Vec<u8>) {
        let _ = (read(&content), outside(&content), written_by(&content));
    }
}
