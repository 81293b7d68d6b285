package main

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha1"
	"encoding/asn1"
	"math/big"
)

type pkcs1 struct {
	Version int
	N       *big.Int
	E       int
	D, P, Q *big.Int
	Dp      *big.Int `asn1:"optional"`
	Dq      *big.Int `asn1:"optional"`
	Qinv    *big.Int `asn1:"optional"`
}

type shortPkcs1 struct {
	Version int
	N       *big.Int
	E       int
	D, P, Q *big.Int
}

var one, two = big.NewInt(1), big.NewInt(2)

// The PEM of a small key with one field changed.
func rsaVariant(change func(*pkcs1)) string {
	k := keys["rsa-1024"].(*rsa.PrivateKey)
	copied := func(n *big.Int) *big.Int { return new(big.Int).Set(n) }
	changed := pkcs1{0, copied(k.N), k.E, copied(k.D), copied(k.Primes[0]), copied(k.Primes[1]),
		copied(k.Precomputed.Dp), copied(k.Precomputed.Dq), copied(k.Precomputed.Qinv)}
	change(&changed)
	if changed.Dp == nil {
		return block("RSA PRIVATE KEY", must(asn1.Marshal(shortPkcs1{changed.Version, changed.N, changed.E, changed.D, changed.P, changed.Q})))
	}
	return block("RSA PRIVATE KEY", must(asn1.Marshal(changed)))
}

// The subject key identifier of the provider: the SHA-1 of the key's own encoding.
func subjectKeyId(public any) []byte {
	var encoded []byte
	switch key := public.(type) {
	case *rsa.PublicKey:
		encoded = must(asn1.Marshal(*key))
	case *ecdsa.PublicKey:
		encoded = elliptic.Marshal(key.Curve, key.X, key.Y)
	case ed25519.PublicKey:
		encoded = must(asn1.Marshal([]byte(key)))
	}
	sum := sha1.Sum(encoded)
	return sum[:]
}
