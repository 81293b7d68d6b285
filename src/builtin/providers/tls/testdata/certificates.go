package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"reflect"
	"time"
)

// The subject block of a configuration; absent attributes are null.
type subject map[string]any

type request struct {
	Key     string   `json:"key"`
	Subject subject  `json:"subject"`
	Dns     []string `json:"dns_names"`
	Ips     []string `json:"ip_addresses"`
	Uris    []string `json:"uris"`
	// What follows belongs to certificates only.
	Hours      int64    `json:"hours"`
	Uses       []string `json:"uses"`
	Ca         bool     `json:"is_ca"`
	PathLength *int64   `json:"max_path_length"`
	SubjectId  bool     `json:"subject_key_id"`
	Authority  bool     `json:"authority_key_id"`
	Serial     string   `json:"serial"`
	Seconds    int64    `json:"seconds"`
	// Locally signed: the PEM of the request and of the authority.
	RequestPem   string `json:"request_pem"`
	AuthorityPem string `json:"authority_pem"`
	// Answers.
	Error string `json:"error"`
	Tbs   string `json:"tbs"`
	Whole string `json:"whole"`
	whole []byte
}

var usages = map[string]x509.KeyUsage{
	"digital_signature": x509.KeyUsageDigitalSignature, "content_commitment": x509.KeyUsageContentCommitment, "key_encipherment": x509.KeyUsageKeyEncipherment,
	"data_encipherment": x509.KeyUsageDataEncipherment, "key_agreement": x509.KeyUsageKeyAgreement, "cert_signing": x509.KeyUsageCertSign,
	"crl_signing": x509.KeyUsageCRLSign, "encipher_only": x509.KeyUsageEncipherOnly, "decipher_only": x509.KeyUsageDecipherOnly,
}

var extended = map[string]x509.ExtKeyUsage{
	"any_extended": x509.ExtKeyUsageAny, "server_auth": x509.ExtKeyUsageServerAuth, "client_auth": x509.ExtKeyUsageClientAuth, "code_signing": x509.ExtKeyUsageCodeSigning,
	"email_protection": x509.ExtKeyUsageEmailProtection, "ipsec_end_system": x509.ExtKeyUsageIPSECEndSystem, "ipsec_tunnel": x509.ExtKeyUsageIPSECTunnel,
	"ipsec_user": x509.ExtKeyUsageIPSECUser, "timestamping": x509.ExtKeyUsageTimeStamping, "ocsp_signing": x509.ExtKeyUsageOCSPSigning,
	"microsoft_server_gated_crypto": x509.ExtKeyUsageMicrosoftServerGatedCrypto, "netscape_server_gated_crypto": x509.ExtKeyUsageNetscapeServerGatedCrypto,
	"microsoft_commercial_code_signing": x509.ExtKeyUsageMicrosoftCommercialCodeSigning, "microsoft_kernel_code_signing": x509.ExtKeyUsageMicrosoftKernelCodeSigning,
}

func (s subject) name() pkix.Name {
	var name pkix.Name
	for key, target := range map[string]*[]string{"organization": &name.Organization, "organizational_unit": &name.OrganizationalUnit, "locality": &name.Locality,
		"province": &name.Province, "country": &name.Country, "postal_code": &name.PostalCode} {
		if value, ok := s[key]; ok {
			*target = []string{value.(string)}
		}
	}
	if value, ok := s["street_address"]; ok {
		name.StreetAddress = value.([]string)
	}
	if value, ok := s["common_name"]; ok {
		name.CommonName = value.(string)
	}
	if value, ok := s["serial_number"]; ok {
		name.SerialNumber = value.(string)
	}
	if value, ok := s["email_address"]; ok {
		name.ExtraNames = []pkix.AttributeTypeAndValue{{Type: asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 1},
			Value: asn1.RawValue{Tag: asn1.TagIA5String, Bytes: []byte(value.(string))}}}
	}
	return name
}

func (r *request) sans() (ips []net.IP, uris []*url.URL) {
	for _, ip := range r.Ips {
		ips = append(ips, net.ParseIP(ip))
	}
	for _, uri := range r.Uris {
		uris = append(uris, must(url.Parse(uri)))
	}
	return
}

func (r *request) answer(der []byte, err error) {
	if err != nil {
		r.Error = err.Error()
		return
	}
	var parts struct {
		Tbs       asn1.RawValue
		Algorithm asn1.RawValue
		Signature asn1.BitString
	}
	must(asn1.Unmarshal(der, &parts))
	// Signatures of ECDSA are random.
	r.Tbs, r.whole = hex.EncodeToString(parts.Tbs.FullBytes), der
	if _, ok := keys[r.Key].(*ecdsa.PrivateKey); !ok {
		r.Tbs, r.Whole = "", hex.EncodeToString(der)
	}
}

var subjects = []subject{
	{}, {"common_name": "x"}, {"common_name": ""}, {"organization": ""}, {"street_address": []string{}}, {"street_address": []string{"b 2", "a", "Straße 1", "aaaa"}},
	{"common_name": "a*b", "organization": "A&B"}, {"common_name": "é", "organization": "O'Neill (x) +,-./:=?", "locality": "a_b"},
	{"common_name": "cn", "organization": "o", "organizational_unit": "ou", "street_address": []string{"s"}, "locality": "l", "province": "p", "country": "c", "postal_code": "pc", "serial_number": "sn", "email_address": "m@x"},
	{"email_address": "é@example.com"}, {"serial_number": "1", "country": "NO"},
}

func recordRequests() {
	var cases []*request
	add := func(r *request) {
		ips, uris := r.sans()
		der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: r.Subject.name(), DNSNames: r.Dns, IPAddresses: ips, URIs: uris}, keys[r.Key])
		r.answer(der, err)
		cases = append(cases, r)
	}
	for _, name := range names {
		add(&request{Key: name, Subject: subject{"common_name": name}, Dns: []string{"a.example"}})
	}
	for _, s := range subjects {
		add(&request{Key: "ed25519", Subject: s})
	}
	add(&request{Key: "ed25519", Subject: subject{}, Dns: []string{"b", "a", "*.c", ""}, Ips: []string{"1.2.3.4", "::1", "::ffff:5.6.7.8"}, Uris: []string{"spiffe://x/y", "https://h/a b"}})
	add(&request{Key: "ed25519", Subject: subject{}, Dns: []string{"é"}})
	add(&request{Key: "ed25519", Subject: subject{}, Uris: []string{"urn:é"}})
	add(&request{Key: "rsa-2048", Subject: subject{}, Ips: []string{"10.0.0.1"}})
	write("requests.json", cases)
}

func (r *request) template() *x509.Certificate {
	template := &x509.Certificate{BasicConstraintsValid: true}
	template.NotBefore = time.Unix(r.Seconds, 123)
	template.NotAfter = template.NotBefore.Add(time.Duration(r.Hours) * time.Hour)
	serial, _ := new(big.Int).SetString(r.Serial, 16)
	template.SerialNumber = serial
	for _, use := range r.Uses {
		if usage, ok := usages[use]; ok {
			template.KeyUsage |= usage
		}
		if usage, ok := extended[use]; ok {
			template.ExtKeyUsage = append(template.ExtKeyUsage, usage)
		}
	}
	return template
}

func (r *request) certify(template, parent *x509.Certificate, public any, key crypto.Signer) {
	if r.Ca {
		if reflect.DeepEqual(template.Subject, pkix.Name{}) {
			r.Error = "Must contain at least one Distinguished Name when creating Certificate Authority (CA)"
			return
		}
		template.IsCA = true
	}
	if r.PathLength != nil && *r.PathLength >= 0 {
		template.MaxPathLen = int(*r.PathLength)
	}
	if r.Ca || r.SubjectId {
		template.SubjectKeyId = subjectKeyId(public)
	}
	if r.Authority {
		if len(parent.SubjectKeyId) == 0 {
			r.Error = "Could not determine Authority Key Identifier"
			return
		}
		template.AuthorityKeyId = parent.SubjectKeyId
	}
	r.answer(x509.CreateCertificate(rand.Reader, template, parent, public, key))
}

func recordCertificates() {
	var cases []*request
	self := func(r *request) *request {
		if r.Serial == "" {
			r.Serial = "ff00112233445566778899aabbccddee"
		}
		if r.Seconds == 0 {
			r.Seconds = 1795475465
		}
		template := r.template()
		template.Subject = r.Subject.name()
		template.DNSNames = r.Dns
		template.IPAddresses, template.URIs = r.sans()
		r.certify(template, template, keys[r.Key].Public(), keys[r.Key])
		cases = append(cases, r)
		return r
	}
	length := func(n int64) *int64 { return &n }
	for _, name := range names {
		self(&request{Key: name, Subject: subject{"common_name": name}, Hours: 1, Uses: []string{"digital_signature"}, Ca: true})
	}
	for _, s := range subjects {
		for _, ca := range []bool{false, true} {
			self(&request{Key: "ed25519", Subject: s, Ca: ca, Dns: []string{"x"}})
		}
	}
	all := []string{}
	for _, uses := range []map[string]x509.ExtKeyUsage{extended} {
		for _, use := range []string{"digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement", "cert_signing", "crl_signing", "encipher_only", "decipher_only"} {
			self(&request{Key: "ed25519", Uses: []string{use}})
			all = append(all, use)
		}
		for _, use := range []string{"any_extended", "server_auth", "client_auth", "code_signing", "email_protection", "ipsec_end_system", "ipsec_tunnel", "ipsec_user", "timestamping", "ocsp_signing",
			"microsoft_server_gated_crypto", "netscape_server_gated_crypto", "microsoft_commercial_code_signing", "microsoft_kernel_code_signing"} {
			_ = uses[use]
			self(&request{Key: "ed25519", Uses: []string{use}})
			all = append(all, use)
		}
	}
	self(&request{Key: "ed25519", Uses: all})
	self(&request{Key: "ed25519", Uses: []string{"server_auth", "client_auth", "server_auth", "cert_signing", "cert_signing", "crl_signing"}})
	for _, ca := range []bool{false, true} {
		for _, n := range []*int64{nil, length(-1), length(0), length(1), length(300)} {
			self(&request{Key: "ed25519", Subject: subject{"common_name": "x"}, Ca: ca, PathLength: n})
		}
		for _, id := range []bool{false, true} {
			for _, authority := range []bool{false, true} {
				self(&request{Key: "p256", Subject: subject{"common_name": "x"}, Ca: ca, SubjectId: id, Authority: authority})
			}
		}
	}
	for _, serial := range []string{"0", "1", "7f", "80", "ffffffffffffffffffffffffffffffff", "00ff"} {
		self(&request{Key: "ed25519", Serial: serial})
	}
	for _, at := range []int64{-631152001, -631152000, 1, 2524607999, 2524608000, 253402300799} {
		for _, hours := range []int64{0, 1, 2562047, 2562048, 4000000, 1 << 61} {
			if at+hours < 253402300799 {
				self(&request{Key: "ed25519", Seconds: at, Hours: hours})
			}
		}
	}
	self(&request{Key: "ed25519", Dns: []string{"é"}})
	self(&request{Key: "rsa-2048", Dns: []string{"a"}, Ips: []string{"::1", "127.0.0.1"}, Uris: []string{"https://h/a b#c"}, Subject: subject{"email_address": "x@y"}})

	authority := func(key string, s subject, ca, id bool) *request {
		return self(&request{Key: key, Subject: s, Ca: ca, SubjectId: id, Hours: 5, Uses: []string{"cert_signing"}})
	}
	local := func(r *request) {
		r.Serial, r.Seconds = "0123456789abcdef0123456789abcdef", 1795475465
		request, _ := pem.Decode([]byte(r.RequestPem))
		parent, _ := pem.Decode([]byte(r.AuthorityPem))
		asked, err := x509.ParseCertificateRequest(request.Bytes)
		cases = append(cases, r)
		if err != nil {
			r.Error = fmt.Sprintf("failed to parse certificate request: %s", err)
			return
		}
		ca := must(x509.ParseCertificate(parent.Bytes))
		template := r.template()
		template.Subject, template.DNSNames, template.IPAddresses, template.URIs = asked.Subject, asked.DNSNames, asked.IPAddresses, asked.URIs
		r.certify(template, ca, asked.PublicKey, keys[r.Key])
	}
	authorities := []*request{
		authority("rsa-2048", subject{"common_name": "x"}, true, true), authority("p384", subject{"common_name": "x"}, true, false), authority("ed25519", subject{"common_name": "ca", "email_address": "a@b"}, false, false),
		authority("p224", subject{"organization": "é"}, false, true), authority("ed25519", subject{}, false, true),
	}
	for i, ca := range authorities {
		parent := block("CERTIFICATE", ca.whole)
		for _, s := range []subject{{}, {"common_name": "x"}, subjects[8], subjects[5]} {
			r := &request{Key: "p521", Subject: s, Dns: []string{"d.example"}, Ips: []string{"1.2.3.4", "::2"}, Uris: []string{"spiffe://a/b"}}
			if i == 2 {
				r.Key = "rsa-2048"
			}
			ips, uris := r.sans()
			der := must(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: r.Subject.name(), DNSNames: r.Dns, IPAddresses: ips, URIs: uris, EmailAddresses: []string{"m@x"}}, keys[r.Key]))
			asked := block("CERTIFICATE REQUEST", der)
			local(&request{Key: ca.Key, Hours: 3, Uses: []string{"server_auth", "key_agreement"}, RequestPem: asked, AuthorityPem: parent})
			local(&request{Key: ca.Key, Hours: 3, Ca: true, PathLength: length(2), RequestPem: asked, AuthorityPem: parent})
			local(&request{Key: ca.Key, Hours: 3, SubjectId: true, RequestPem: asked, AuthorityPem: parent})
			if i == 0 {
				for kind := 0; kind < 20; kind++ {
					local(&request{Key: ca.Key, Hours: 3, RequestPem: block("CERTIFICATE REQUEST", damaged(der, kind)), AuthorityPem: parent})
				}
			}
		}
		wrong := "rsa-1024"
		der := must(x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, keys["p256"]))
		local(&request{Key: wrong, Hours: 3, RequestPem: block("CERTIFICATE REQUEST", der), AuthorityPem: parent})
	}
	write("certificates.json", cases)
}
