//! Regions and the domains of their services, as Oracle listed them in 2025. `CLIENT_HOST_OVERRIDES` names the host of any other.

/// The domain of a region's services. Regions that are not listed are those of the commercial cloud.
pub fn domain(region: &str) -> &'static str {
    match region {
        "us-langley-1" | "us-luke-1" | "us-gov-ashburn-1" | "us-gov-chicago-1" | "us-gov-phoenix-1" => {
            "oraclegovcloud.com"
        }
        "uk-gov-london-1" | "uk-gov-cardiff-1" => "oraclegovcloud.uk",
        "ap-chiyoda-1" | "ap-ibaraki-1" => "oraclecloud8.com",
        "me-dcc-muscat-1" | "me-ibri-1" => "oraclecloud9.com",
        "ap-dcc-canberra-1" => "oraclecloud10.com",
        "eu-dcc-milan-1" | "eu-dcc-milan-2" | "eu-dcc-dublin-1" | "eu-dcc-dublin-2" | "eu-dcc-rating-1"
        | "eu-dcc-rating-2" => "oraclecloud14.com",
        "ap-dcc-gazipur-1" => "oraclecloud15.com",
        "eu-frankfurt-2" | "eu-madrid-2" => "oraclecloud.eu",
        "eu-jovanovac-1" => "oraclecloud20.com",
        "me-dcc-doha-1" => "oraclecloud21.com",
        "us-somerset-1" | "us-thames-1" => "oraclecloud23.com",
        "eu-dcc-zurich-1" | "eu-crissier-1" => "oraclecloud24.com",
        "me-abudhabi-3" | "me-alain-1" => "oraclecloud26.com",
        "me-abudhabi-2" | "me-abudhabi-4" => "oraclecloud29.com",
        "ap-seoul-2" | "ap-suwon-1" | "ap-chuncheon-2" => "oraclecloud35.com",
        "us-ashburn-2" | "us-newark-1" => "oraclecloud42.com",
        "eu-budapest-1" => "oraclecloud51.com",
        _ => "oraclecloud.com",
    }
}

/// The region that a code of three letters means.
pub fn name(region: &str) -> &str {
    let code = CODES.iter().find(|(code, _)| code.eq_ignore_ascii_case(region));
    code.map_or(region, |(_, name)| name)
}

#[rustfmt::skip]
const CODES: &[(&str, &str)] = &[
    ("aga", "us-saltlake-2"), ("ahu", "me-abudhabi-3"), ("ams", "eu-amsterdam-1"), ("arn", "eu-stockholm-1"),
    ("auh", "me-abudhabi-1"), ("avf", "eu-crissier-1"), ("avz", "eu-dcc-zurich-1"), ("beg", "eu-jovanovac-1"),
    ("bgy", "eu-dcc-milan-1"), ("bno", "ap-chuncheon-2"), ("bog", "sa-bogota-1"), ("bom", "ap-mumbai-1"),
    ("brs", "uk-gov-cardiff-1"), ("cdg", "eu-paris-1"), ("cwl", "uk-cardiff-1"), ("dac", "ap-dcc-gazipur-1"),
    ("des", "ap-chennai-1"), ("dln", "ap-suwon-1"), ("doh", "me-dcc-doha-1"), ("dtm", "eu-dcc-rating-2"),
    ("dtz", "ap-seoul-2"), ("dus", "eu-dcc-rating-1"), ("dxb", "me-dubai-1"), ("ebb", "us-somerset-1"),
    ("ebl", "us-thames-1"), ("fra", "eu-frankfurt-1"), ("gru", "sa-saopaulo-1"), ("hsg", "ap-batam-1"),
    ("hyd", "ap-hyderabad-1"), ("iad", "us-ashburn-1"), ("ibr", "me-ibri-1"), ("icn", "ap-seoul-1"),
    ("jed", "me-jeddah-1"), ("jnb", "af-johannesburg-1"), ("jsk", "eu-budapest-1"), ("kix", "ap-osaka-1"),
    ("lfi", "us-langley-1"), ("lhr", "uk-london-1"), ("lin", "eu-milan-1"), ("ltn", "uk-gov-london-1"),
    ("luf", "us-luke-1"), ("mad", "eu-madrid-1"), ("mct", "me-dcc-muscat-1"), ("mel", "ap-melbourne-1"),
    ("mrs", "eu-marseille-1"), ("mty", "mx-monterrey-1"), ("mtz", "il-jerusalem-1"), ("mxp", "eu-dcc-milan-2"),
    ("nja", "ap-chiyoda-1"), ("nrq", "eu-turin-1"), ("nrt", "ap-tokyo-1"), ("onm", "ap-delhi-1"),
    ("ord", "us-chicago-1"), ("orf", "eu-madrid-3"), ("ork", "eu-dcc-dublin-1"), ("pgc", "us-newark-1"),
    ("phx", "us-phoenix-1"), ("pia", "us-gov-chicago-1"), ("qro", "mx-queretaro-1"), ("rba", "me-alain-1"),
    ("ric", "us-gov-ashburn-1"), ("rkt", "me-abudhabi-2"), ("ruh", "me-riyadh-1"), ("scl", "sa-santiago-1"),
    ("shj", "me-abudhabi-4"), ("sin", "ap-singapore-1"), ("sjc", "us-sanjose-1"), ("snn", "eu-dcc-dublin-2"),
    ("str", "eu-frankfurt-2"), ("syd", "ap-sydney-1"), ("tus", "us-gov-phoenix-1"), ("ukb", "ap-ibaraki-1"),
    ("vap", "sa-valparaiso-1"), ("vcp", "sa-vinhedo-1"), ("vkz", "us-columbus-1"), ("vll", "eu-madrid-2"),
    ("wga", "ap-dcc-canberra-1"), ("xsp", "ap-singapore-2"), ("yny", "ap-chuncheon-1"), ("yul", "ca-montreal-1"),
    ("yxj", "us-ashburn-2"), ("yyz", "ca-toronto-1"), ("zrh", "eu-zurich-1"),
];
