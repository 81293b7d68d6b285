package main

import (
	"fmt"
	"net"
	"net/url"
	"time"
)

type textCase struct {
	Text  string `json:"text"`
	Is    string `json:"is"`
	Host  string `json:"host"`
	Error string `json:"error"`
}

func recordTexts() {
	var uris []textCase
	for _, text := range []string{
		"", "*", "https://example.com", "HTTPS://Example.COM/a b", "spiffe://trust.example/ns/x", "urn:uuid:1-2-3", "mailto:a@b.c",
		"https://u:p@h:443/p?q=1#f", "https://u@h", "https://u:@h", "https://a@b@h/x", "https://h:x/", "https://h:/", "//h/p", "/p", "p/q", "a:b", "1a:b",
		":x", "https://h/%41%zz", "https://h/%41%2f", "https://h/%", "https://h/%4", "https://[::1]:8/", "https://[::1%25eth0]/", "https://[::1", "https://x[::1]/",
		"https://[1.2.3.4]/", "https://h/a#b c", "https://h/a#%2f", "https://h?", "https://h?a b", "https://h?a=<b>&c='\"", "https://h/\"<>`{}|\\^", "https://h/é", "https://é.x/",
		"https://h%c3%a9/", "https://h%41/", "https://h x/", "https://h<x/", "https://h\"x/", "x\n", "x\x7f", "https://u%20x@h/", "https://u^x@h/", "file:///etc", "file:/etc", "x:", "x://", "x:///", "x:?",
		"https://h/a;b,c/d=e&f@g:h", "https://h/$-_.+!*'(),", "https://h/[x]", "?q", "#f", "a/b:c", "./a:b", "x-y+z.w:o", "é:x", "https://h/p#", "https://h/p?#", "https://h/p??", "https://h#a#b", "https://h:1:2/", "https://h/a%20b+c",
		"x://h:1:2/", "https://u:p:q@h/", "https://u%3Ap@h/", "https://h/#\"<>", "https://h/#!$&'()*+,;=:@/?", "https://[fe80::1%25%65th]/", "https://[::ffff:1.2.3.4]/", "https://[g]/", "tls://h", "tls://h:443", "tls:h:443", "https://h/%2F%41",
		"https://h/\t", "https://h/a//b/../c", "HTTP:x", "http+unix://%2Ftmp/x", "https:", "https:/x", "https://@h/", "https://:@h", "https://:p@h", "x#y z", "https://h/*", "https://h/~a",
	} {
		record := textCase{Text: text}
		if found, err := url.Parse(text); err != nil {
			record.Error = err.Error()
		} else {
			record.Is, record.Host = found.String(), found.Host
		}
		uris = append(uris, record)
	}
	write("uri.json", uris)

	var ips []textCase
	for _, text := range []string{
		"", "1.2.3.4", "01.2.3.4", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1.2.3.4 ", " 1.2.3.4", "1.2.3.-4", "1.2.3.4/8", "::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::1%eth0",
		"::ffff:1.2.3.4", "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "1:2:3:4:5:6:7:1.2.3.4", "fe80::ABCD", "12345::", "g::", "[::1]", "::1::", ":1", "1:", "0x1.2.3.4", "00.0.0.0", "0.0.0.0", "1.2.3.4\n", "::ffff:01.2.3.4", "::00001", "1.2..4", "١.2.3.4",
	} {
		record := textCase{Text: text}
		if ip := net.ParseIP(text); ip != nil {
			short := ip.To4()
			if short == nil {
				short = ip
			}
			record.Is = fmt.Sprintf("%x", []byte(short))
		} else {
			record.Error = fmt.Sprintf("Failed to parse %#v", text)
		}
		ips = append(ips, record)
	}
	write("ip.json", ips)
}

type timeCase struct {
	Zone    string `json:"zone"`
	Seconds int64  `json:"seconds"`
	Nanos   int64  `json:"nanoseconds"`
	Offset  int    `json:"offset"`
	Hours   int64  `json:"hours"`
	Start   string `json:"start"`
	End     string `json:"end"`
}

type renewalCase struct {
	End     string `json:"end"`
	Early   int64  `json:"early"`
	Seconds int64  `json:"seconds"`
	Nanos   int64  `json:"nanoseconds"`
	Ready   bool   `json:"ready"`
	Error   string `json:"error"`
}

func recordTimes() {
	var cases []timeCase
	for _, offset := range []int{0, 3600, -12600, 20700} {
		for _, nanos := range []int64{0, 1, 120000000, 999999999} {
			for _, hours := range []int64{0, 1, 8760, 2562047, 2562048, 5124095, 5124096, 1 << 60, 9223372036854775807, 4000000} {
				start := time.Unix(1795475465, nanos).In(time.FixedZone("", offset))
				end := start.Add(time.Duration(hours) * time.Hour)
				cases = append(cases, timeCase{"", start.Unix(), nanos, offset, hours, string(must(start.MarshalText())), string(must(end.MarshalText()))})
			}
		}
	}
	write("times.json", cases)

	var renewals []renewalCase
	now := time.Unix(1795475465, 500)
	for _, end := range []string{
		"2026-11-23T23:11:05Z", "2026-11-23T23:11:05.0000005Z", "2026-11-23T23:11:05.000000501Z", "2026-11-24T00:11:05.0000005+01:00", "2026-11-24T01:11:05.0000005+01:00", "2027-11-23T23:11:05Z", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z",
		"x", "", "2026-11-23", "2026-11-23T23:11:05", "2026-11-23 23:11:05Z", "2026-13-23T23:11:05Z", "2026-11-23T24:11:05Z", "2026-11-23T23:11:05z", "2026-11-23T23:11:05+25:00", "2026-11-23T23:11:05,5Z", "2026-02-30T00:00:00Z", "2026-11-23T3:11:05Z", "2026-11-23T23:11:60Z",
	} {
		for _, early := range []int64{0, 1, 2, 8760, 9223372036854775807, 2562048, 5124096} {
			record := renewalCase{End: end, Early: early, Seconds: now.Unix(), Nanos: 500}
			if at, err := time.Parse(time.RFC3339, end); err != nil {
				record.Error = err.Error()
			} else {
				record.Ready = at.Add(time.Duration(-early)*time.Hour).Sub(now) <= 0
			}
			renewals = append(renewals, record)
		}
	}
	write("renewals.json", renewals)
}
