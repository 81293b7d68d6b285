package main

import (
	"net/url"

	"golang.org/x/net/http/httpproxy"
)

type proxyCase struct {
	Url   string `json:"url"`
	Http  string `json:"http_proxy"`
	Https string `json:"https_proxy"`
	No    string `json:"no_proxy"`
	Proxy string `json:"proxy"`
}

func recordProxies() {
	var cases []proxyCase
	add := func(address, http, https, no string) {
		config := httpproxy.Config{HTTPProxy: http, HTTPSProxy: https, NoProxy: no}
		record := proxyCase{Url: address, Http: http, Https: https, No: no}
		if proxy := must(config.ProxyFunc()(must(url.Parse(address)))); proxy != nil {
			record.Proxy = proxy.String()
		}
		cases = append(cases, record)
	}
	for _, address := range []string{"https://example.com", "http://example.com", "https://localhost", "https://127.0.0.5:8443", "https://[::1]", "https://a.localhost"} {
		add(address, "http://h:1", "http://s:2", "")
		add(address, "", "", "")
	}
	for _, proxy := range []string{"p:3128", "p", "https://p", "socks5://p:1080", "http://u:x@p:1"} {
		add("https://example.com", "", proxy, "")
	}
	for _, no := range []string{"*", "example.com", ".example.com", "*.example.com", "EXAMPLE.com", " example.com , x", "example.com:443", "example.com:444", "ample.com", "www.example.com", "com", ".com", "10.0.0.0/8", "10.1.2.3", "10.1.2.3:443", "10.1.2.3:80",
		"10.0.0.0/33", "[fe80::1]:443", "fe80::1", "fe80::/16", "::/0", "0.0.0.0/0", ":443", ",,", "x:y:z", "::ffff:10.1.2.3"} {
		for _, host := range []string{"example.com", "www.example.com", "10.1.2.3", "[fe80::1]", "notexample.com"} {
			add("https://"+host, "", "http://p:1", no)
		}
	}
	write("proxies.json", cases)
}
