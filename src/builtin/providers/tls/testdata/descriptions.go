package main

import (
	"crypto/rand"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"strconv"
	"time"
)

type description struct {
	Text               string `json:"text"`
	Error              string `json:"error"`
	SignatureAlgorithm string `json:"signature_algorithm"`
	PublicKeyAlgorithm string `json:"public_key_algorithm"`
	SerialNumber       string `json:"serial_number"`
	IsCa               bool   `json:"is_ca"`
	MaxPathLength      int    `json:"max_path_length"`
	Version            int    `json:"version"`
	Issuer             string `json:"issuer"`
	Subject            string `json:"subject"`
	NotBefore          string `json:"not_before"`
	NotAfter           string `json:"not_after"`
	Sha1               string `json:"sha1_fingerprint"`
	CertPem            string `json:"cert_pem"`
	Id                 string `json:"id"`
}

func describe(text string) description {
	record := description{Text: text}
	found, _ := pem.Decode([]byte(text))
	if found == nil {
		record.Error = "Value is not a valid PEM encoding of a certificate"
		return record
	}
	if found.Type != "CERTIFICATE" {
		record.Error = fmt.Sprintf("Certificate PEM should be %q, got %q", "CERTIFICATE", found.Type)
		return record
	}
	cert, err := x509.ParseCertificate(found.Bytes)
	if err != nil {
		record.Error = err.Error()
		return record
	}
	record.SignatureAlgorithm, record.PublicKeyAlgorithm = cert.SignatureAlgorithm.String(), cert.PublicKeyAlgorithm.String()
	record.SerialNumber, record.IsCa, record.MaxPathLength, record.Version = cert.SerialNumber.String(), cert.IsCA, cert.MaxPathLen, cert.Version
	record.Issuer, record.Subject = cert.Issuer.String(), cert.Subject.String()
	record.NotBefore, record.NotAfter = cert.NotBefore.Format(time.RFC3339), cert.NotAfter.Format(time.RFC3339)
	record.Sha1 = fmt.Sprintf("%x", sha1.Sum(cert.Raw))
	record.CertPem = block("CERTIFICATE", cert.Raw)
	q := strconv.Quote
	record.Id = hash(fmt.Sprintf("[{%s %s %s %t %d %d %s %s %s %s %s %s}]", q(record.SignatureAlgorithm), q(record.PublicKeyAlgorithm), q(record.SerialNumber), record.IsCa,
		record.MaxPathLength, record.Version, q(record.Issuer), q(record.Subject), q(record.NotBefore), q(record.NotAfter), q(record.Sha1), q(record.CertPem)))
	return record
}

type attribute struct {
	oid   []int
	tag   int
	bytes []byte
}

// A certificate of a name that is put together by hand.
func named(rdns [][]attribute) string {
	var sequence []asn1.RawValue
	for _, rdn := range rdns {
		var set []asn1.RawValue
		for _, a := range rdn {
			inner := append(must(asn1.Marshal(asn1.ObjectIdentifier(a.oid))), must(asn1.Marshal(asn1.RawValue{Tag: a.tag, Bytes: a.bytes}))...)
			set = append(set, asn1.RawValue{Tag: asn1.TagSequence, IsCompound: true, Bytes: inner})
		}
		der := must(asn1.Marshal(set))
		der[0] = 0x31
		sequence = append(sequence, asn1.RawValue{FullBytes: der})
	}
	raw := must(asn1.Marshal(sequence))
	template := &x509.Certificate{SerialNumber: big.NewInt(5), RawSubject: raw, NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<32, 0)}
	return block("CERTIFICATE", must(x509.CreateCertificate(rand.Reader, template, template, keys["ed25519"].Public(), keys["ed25519"])))
}

func recordDescriptions() {
	var cases []description
	add := func(text string) { cases = append(cases, describe(text)) }
	cn, email, dc := []int{2, 5, 4, 3}, []int{1, 2, 840, 113549, 1, 9, 1}, []int{0, 9, 2342, 19200300, 100, 1, 25}
	for tag, text := range map[int]string{12: "é, \"+;<>\\ ", 19: " #x", 20: "\xe9t61", 22: "ia5", 18: "0 1", 30: "\x00a\x26\x3a\x00\x00", 4: "octets"} {
		add(named([][]attribute{{{cn, tag, []byte(text)}}}))
		add(named([][]attribute{{{dc, tag, []byte(text)}}, {{cn, 12, []byte("x")}}}))
	}
	for tag, text := range map[int]string{12: "\xff", 19: "*", 22: "\xe9", 18: "a", 30: "\x00"} {
		add(named([][]attribute{{{cn, tag, []byte(text)}}}))
	}
	add(named(nil))
	add(named([][]attribute{{}}))
	add(named([][]attribute{{{cn, 12, []byte("a")}, {email, 22, []byte("x@y")}}, {{cn, 12, []byte("b")}}}))
	add(named([][]attribute{{{dc, 22, []byte("org")}}, {{[]int{2, 5, 4, 10}, 12, []byte("o1")}}, {{[]int{2, 5, 4, 10}, 12, []byte("o2")}}, {{[]int{2, 5, 4, 42}, 12, []byte("given")}}, {{[]int{2, 5, 4, 5}, 19, []byte("77")}}}))
	add(named([][]attribute{{{[]int{2, 5, 4, 9}, 12, []byte("s1")}, {[]int{2, 5, 4, 9}, 12, []byte("s2")}}, {{[]int{2, 5, 4, 17}, 12, []byte("")}}, {{cn, 12, []byte("")}}}))
	add(named([][]attribute{{{dc, 12, []byte("")}}, {{dc, 19, []byte("a*b")}}}))

	plain := func(change func(*x509.Certificate), key string) string {
		template := &x509.Certificate{SerialNumber: new(big.Int).Lsh(big.NewInt(1), 130), Subject: pkix.Name{CommonName: "x"}, NotBefore: time.Unix(1, 0), NotAfter: time.Unix(2524608000, 0)}
		change(template)
		return block("CERTIFICATE", must(x509.CreateCertificate(rand.Reader, template, template, keys[key].Public(), keys[key])))
	}
	for _, name := range names {
		add(plain(func(*x509.Certificate) {}, name))
	}
	for _, algorithm := range []x509.SignatureAlgorithm{x509.SHA1WithRSA, x509.SHA384WithRSA, x509.SHA512WithRSA, x509.SHA256WithRSAPSS, x509.SHA384WithRSAPSS, x509.SHA512WithRSAPSS} {
		add(plain(func(c *x509.Certificate) { c.SignatureAlgorithm = algorithm }, "rsa-2048"))
	}
	for _, algorithm := range []x509.SignatureAlgorithm{x509.ECDSAWithSHA1, x509.ECDSAWithSHA384} {
		add(plain(func(c *x509.Certificate) { c.SignatureAlgorithm = algorithm }, "p256"))
	}
	add(plain(func(c *x509.Certificate) { c.BasicConstraintsValid, c.IsCA, c.MaxPathLenZero = true, true, true }, "p256"))
	add(plain(func(c *x509.Certificate) { c.BasicConstraintsValid, c.IsCA, c.MaxPathLen = true, true, 3 }, "p256"))
	add(plain(func(c *x509.Certificate) { c.BasicConstraintsValid = true }, "p256"))
	full := plain(func(c *x509.Certificate) {
		c.BasicConstraintsValid, c.IsCA = true, true
		c.KeyUsage = x509.KeyUsageCertSign
		c.DNSNames, c.EmailAddresses = []string{"a"}, []string{"b@c"}
		c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		c.AuthorityKeyId, c.OCSPServer = []byte{1}, []string{"http://o"}
		c.CRLDistributionPoints, c.PolicyIdentifiers = []string{"http://c"}, []asn1.ObjectIdentifier{{1, 2, 3}}
		c.PermittedDNSDomains = []string{"x.y"}
	}, "p256")
	add(full)
	add("junk\n" + full + full)
	add("x")
	add(block("CERTIFICATE REQUEST", []byte{1}))
	add(block("CERTIFICATE", nil))
	found, _ := pem.Decode([]byte(full))
	for i := range found.Bytes {
		if i < 420 && i%3 == 0 {
			der := append([]byte{}, found.Bytes...)
			der[i] ^= 1 << (i % 8)
			add(block("CERTIFICATE", der))
		}
	}
	for _, more := range []string{"00", "0500"} {
		add(block("CERTIFICATE", append(append([]byte{}, found.Bytes...), must(hex.DecodeString(more))...)))
	}
	// Other algorithms of keys and signatures, by their identifiers alone.
	for _, oids := range [][2]string{
		{"06032b6570", "06032b656e"}, {"06032b6570", "06032b6571"}, {"06032b6570", "06032b656f"},
	} {
		text := []byte(plain(func(*x509.Certificate) {}, "ed25519"))
		found, _ := pem.Decode(text)
		add(block("CERTIFICATE", replaced(found.Bytes, oids[0], oids[1])))
	}
	times := func(old, new string) {
		found, _ := pem.Decode([]byte(plain(func(c *x509.Certificate) { c.NotBefore, c.NotAfter = time.Unix(0, 0), time.Unix(0, 0) }, "ed25519")))
		add(block("CERTIFICATE", replaced(found.Bytes, hex.EncodeToString([]byte(old)), hex.EncodeToString([]byte(new)))))
	}
	for _, text := range []string{"700101000001Z", "491231235959Z", "500101000000Z", "701301000000Z", "700230000000Z", "70010100000+Z", "700101240000Z", "7001010000+01", "700101000060Z", "70010100000 Z", "70010100-100Z"} {
		times("700101000000Z", text)
	}
	write("descriptions.json", cases)
}

func replaced(der []byte, old, new string) []byte {
	text := hex.EncodeToString(der)
	out := ""
	for i := 0; i < len(text); {
		if i+len(old) <= len(text) && text[i:i+len(old)] == old {
			out += new
			i += len(old)
		} else {
			out += text[i : i+2]
			i += 2
		}
	}
	return must(hex.DecodeString(out))
}
