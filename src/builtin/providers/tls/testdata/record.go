// Records what Go's crypto/x509 and golang.org/x/crypto/ssh answer: the golden files of this folder.
//
//	go run .
//
// All keys are throwaway test keys. keys.json is kept if it exists, so that the other files change little.
package main

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"regexp"
	"strings"

	"golang.org/x/crypto/ssh"
)

type keyRecord struct {
	Name       string `json:"name"`
	Algorithm  string `json:"algorithm"`
	Pem        string `json:"pem"`
	Pkcs8      string `json:"pkcs8"`
	Openssh    string `json:"openssh"`
	PublicPem  string `json:"public_pem"`
	PublicSsh  string `json:"public_openssh"`
	Md5        string `json:"md5"`
	Sha256     string `json:"sha256"`
	Id         string `json:"id"`
	SubjectKey string `json:"subject_key_id"`
}

var names []string
var keys = map[string]crypto.Signer{}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func write(file string, value any) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(value); err != nil {
		panic(err)
	}
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		panic(err)
	}
}

func algorithm(key any) string {
	switch key.(type) {
	case *rsa.PrivateKey:
		return "RSA"
	case *ecdsa.PrivateKey:
		return "ECDSA"
	case ed25519.PrivateKey, *ed25519.PrivateKey:
		return "ED25519"
	}
	return ""
}

func hash(text string) string {
	sum := sha1.Sum([]byte(strings.TrimSpace(text)))
	return hex.EncodeToString(sum[:])
}

func recordKey(name string, key crypto.Signer) keyRecord {
	record := keyRecord{Name: name, Algorithm: algorithm(key)}
	record.Pkcs8 = block("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(key)))
	switch k := key.(type) {
	case *rsa.PrivateKey:
		record.Pem = block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(k))
	case *ecdsa.PrivateKey:
		record.Pem = block("EC PRIVATE KEY", must(x509.MarshalECPrivateKey(k)))
	case ed25519.PrivateKey:
		record.Pem = record.Pkcs8
	}
	if name != "p224" && name != "rsa-3-primes" {
		record.Openssh = string(pem.EncodeToMemory(must(ssh.MarshalPrivateKey(key, ""))))
	}
	spki := must(x509.MarshalPKIXPublicKey(key.Public()))
	record.PublicPem = block("PUBLIC KEY", spki)
	record.Id = hash(string(spki))
	record.SubjectKey = hex.EncodeToString(subjectKeyId(key.Public()))
	if public, err := ssh.NewPublicKey(key.Public()); err == nil {
		record.PublicSsh = string(ssh.MarshalAuthorizedKey(public))
		record.Md5 = ssh.FingerprintLegacyMD5(public)
		record.Sha256 = ssh.FingerprintSHA256(public)
	}
	return record
}

func recordKeys() {
	var records []keyRecord
	if text, err := os.ReadFile("keys.json"); err == nil {
		if err := json.Unmarshal(text, &records); err != nil {
			panic(err)
		}
		for _, record := range records {
			block, _ := pem.Decode([]byte(record.Pkcs8))
			names = append(names, record.Name)
			keys[record.Name] = must(x509.ParsePKCS8PrivateKey(block.Bytes)).(crypto.Signer)
		}
		return
	}
	add := func(name string, key crypto.Signer) {
		names = append(names, name)
		keys[name] = key
		records = append(records, recordKey(name, key))
	}
	add("rsa-1024", must(rsa.GenerateKey(rand.Reader, 1024)))
	add("rsa-1031", must(rsa.GenerateKey(rand.Reader, 1031)))
	add("rsa-2048", must(rsa.GenerateKey(rand.Reader, 2048)))
	add("rsa-3-primes", must(rsa.GenerateMultiPrimeKey(rand.Reader, 3, 1200)))
	add("p224", must(ecdsa.GenerateKey(elliptic.P224(), rand.Reader)))
	add("p256", must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)))
	add("p384", must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)))
	add("p521", must(ecdsa.GenerateKey(elliptic.P521(), rand.Reader)))
	for i := 0; ; i++ {
		// One whose DER begins with the usual bytes and ends with white space, which ids leave out.
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			panic(err)
		}
		if strings.TrimSpace(string(key[32:])) != string(key[32:]) && key[63] == ' ' {
			add("ed25519-space", key)
			break
		}
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	add("ed25519", key)
	write("keys.json", records)
}

type readAnswer struct {
	Algorithm string `json:"algorithm"`
	Id        string `json:"id"`
	Error     string `json:"error"`
}

// A text, read as private_key_pem and as private_key_openssh.
type readCase struct {
	Text    string     `json:"text"`
	Pem     readAnswer `json:"pem"`
	Openssh readAnswer `json:"openssh"`
}

func readPem(text string) (any, error) {
	found, rest := pem.Decode([]byte(text))
	if found == nil {
		return nil, fmt.Errorf("failed to decode PEM block: decoded bytes %d, undecoded %d", len(text)-len(rest), len(rest))
	}
	var key any
	var err error
	switch found.Type {
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(found.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(found.Bytes)
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(found.Bytes)
	case "PUBLIC KEY", "CERTIFICATE", "CERTIFICATE REQUEST":
		return nil, fmt.Errorf("unable to determine parser for PEM preamble: %s", found.Type)
	default:
		return nil, fmt.Errorf("unsupported PEM preamble/type: %s", found.Type)
	}
	if err != nil {
		return nil, fmt.Errorf("failed to parse private key given PEM preamble '%s': %w", found.Type, err)
	}
	return key, nil
}

func readOpenssh(text string) (any, error) {
	key, err := ssh.ParseRawPrivateKey([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("failed to parse openssh private key: %w", err)
	}
	return key, nil
}

func answerOf(key any, err error) (answer readAnswer) {
	if err == nil && algorithm(key) == "" {
		err = fmt.Errorf("failed to determine key algorithm for private key of type %T: unsupported private key type: %T", key, key)
	}
	if err != nil {
		answer.Error = err.Error()
		return
	}
	answer.Algorithm = algorithm(key)
	answer.Id = hash(string(must(x509.MarshalPKIXPublicKey(key.(crypto.Signer).Public()))))
	return
}

// Texts of keys, whole and damaged.
func recordReads() {
	var cases []readCase
	both := func(text string) {
		cases = append(cases, readCase{text, answerOf(readPem(text)), answerOf(readOpenssh(text))})
	}
	for _, name := range names {
		record := recordKey(name, keys[name])
		for _, text := range []string{record.Pem, record.Pkcs8, record.Openssh} {
			if text == "" {
				continue
			}
			both(text)
			if name == "rsa-2048" || name == "rsa-3-primes" || name == "ed25519-space" {
				continue
			}
			for kind := 0; kind < 9; kind++ {
				found, _ := pem.Decode([]byte(text))
				der := damaged(found.Bytes, kind)
				both(block(found.Type, der))
			}
			found, _ := pem.Decode([]byte(text))
			for _, kind := range []string{"RSA PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY", "OPENSSH PRIVATE KEY", "PUBLIC KEY", "DSA PRIVATE KEY", "x"} {
				if kind != found.Type && (name == "rsa-1024" || name == "p256" || name == "ed25519") {
					both(block(kind, found.Bytes))
				}
			}
		}
	}
	locked := must(ssh.MarshalPrivateKeyWithPassphrase(keys["ed25519"], "c", []byte("x")))
	both(string(pem.EncodeToMemory(locked)))
	both(string(pem.EncodeToMemory(must(ssh.MarshalPrivateKey(keys["p256"], "a comment")))))
	both(string(pem.EncodeToMemory(must(ssh.MarshalPrivateKey(keys["rsa-1024"], "a longer comment")))))
	both("junk\n" + recordKey("ed25519", keys["ed25519"]).Pem + "junk")
	both(strings.Replace(recordKey("rsa-1024", keys["rsa-1024"]).Pem, "KEY-----\n", "KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\n", 1))
	both("hello")
	both("")
	both(rsaVariant(func(k *pkcs1) { k.E = 2 }))
	both(rsaVariant(func(k *pkcs1) { k.E = 1 << 40 }))
	both(rsaVariant(func(k *pkcs1) { k.Version = 2 }))
	both(rsaVariant(func(k *pkcs1) { k.D.Add(k.D, one) }))
	both(rsaVariant(func(k *pkcs1) { k.Dp.Add(k.Dp, one) }))
	both(rsaVariant(func(k *pkcs1) { k.Dq.Add(k.Dq, one) }))
	both(rsaVariant(func(k *pkcs1) { k.Qinv.Add(k.Qinv, one) }))
	both(rsaVariant(func(k *pkcs1) { k.N.Add(k.N, one) }))
	both(rsaVariant(func(k *pkcs1) { k.N.Add(k.N, two) }))
	both(rsaVariant(func(k *pkcs1) { k.P.Neg(k.P) }))
	both(rsaVariant(func(k *pkcs1) { k.Dp, k.Dq, k.Qinv = nil, nil, nil }))
	for _, hexText := range []string{
		"302e020100300506032b656e04220420" + strings.Repeat("07", 32), // X25519
		"302e020100300506032b656f04220420" + strings.Repeat("07", 32), // X448
		"302d020100300506032b657004210420" + strings.Repeat("07", 31),
		"3030020100300706032b65700500042204" + "20" + strings.Repeat("07", 32),
		"3051020101300506032b657004220420" + strings.Repeat("07", 32) + "812100" + strings.Repeat("07", 32),
	} {
		both(block("PRIVATE KEY", must(hex.DecodeString(hexText))))
	}
	write("read.json", cases)
}

// One of a few kinds of damage.
func damaged(der []byte, kind int) []byte {
	out := append([]byte{}, der...)
	switch kind {
	case 0:
		return out[:len(out)-1]
	case 1:
		return append(out, 0)
	case 2:
		return nil
	default:
		out[(kind-3)*5%len(out)] ^= 1 << (kind % 8)
		return out
	}
}

type pemCase struct {
	Text  string `json:"text"`
	Found bool   `json:"found"`
	Type  string `json:"type"`
	Hex   string `json:"hex"`
}

func recordPems() {
	good := block("A B", []byte("0123456789012345678901234567890123456789012345678901234567890123456789"))
	texts := []string{
		"", "x", good, "junk\n" + good, "junk " + good, good + good, good + "junk", strings.TrimSpace(good),
		strings.ReplaceAll(good, "\n", "\r\n"), strings.ReplaceAll(good, "\n", " \n"), strings.ReplaceAll(good, "\n", "\n\n"),
		strings.ReplaceAll(good, "\n", "\n\t "), strings.ReplaceAll(good, "\n", ""), strings.Replace(good, "END A B", "END A C", 1),
		strings.Replace(good, "A B", "A C", 1), strings.ReplaceAll(good, "A B", ""), strings.ReplaceAll(good, "A B", "é"),
		strings.Replace(good, "=", "", 1), strings.Replace(good, "==", "", 1), strings.Replace(good, "M", "-", 1),
		strings.Replace(good, "M", "M*", 1), strings.Replace(good, "-----\n", "-----\nKey: value\nOther:x\n\n", 1),
		strings.Replace(good, "-----\n", "-----\nKey: value\n", 1), strings.Replace(good, "-----\n", "-----\n\n", 1),
		"-----BEGIN A-----\n-----END A-----\n", "-----BEGIN A-----\n\n-----END A-----\n", "-----BEGIN A-----\nA: b\n-----END A-----\n",
		"-----BEGIN A-----\nA: b\n\n-----END A-----\n", "-----BEGIN A-----\nYQ==\n-----END A----- x\n", "-----BEGIN A-----\nYQ==\n-----END A-----  \n",
		"-----BEGIN A-----\nYQ==-----END A-----\n", "-----BEGIN A-----YQ==\n-----END A-----\n", "-----BEGIN A-----\nYR==\n-----END A-----\n",
		"-----BEGIN A-----\nYQ==\n-----BEGIN B-----\nYg==\n-----END B-----\n", "-----BEGIN A-----\nYQ==\n-----END B-----\n" + good,
		"-----BEGIN A-----\nYQ==\nYQ==\n-----END A-----\n", "-----BEGIN A-----\nY\nQ=\n=\n-----END A-----\n", " -----BEGIN A-----\nYQ==\n-----END A-----\n",
		"-----BEGIN A----- \nYQ==\n-----END A-----\n", "-----BEGIN A----\nYQ==\n-----END A-----\n", "-----BEGIN A-----\nYQ==\n-----END A----", "----BEGIN A-----\nYQ==\n-----END A-----",
		"-----BEGIN A-----", "-----END A-----", "-----BEGIN A-----\nYQ==\n", "-----BEGIN A-----\nYQ==\n-----END ", "-----END A-----\n" + good, "-----BEGIN -----\nYQ==\n-----END -----\n",
		"-----BEGIN A-----\n:\n\nYQ==\n-----END A-----\n", "-----BEGIN A-----\nYQ=\n-----END A-----\n", "-----BEGIN A-----\nYQ\n-----END A-----\n", "-----BEGIN A-----\nYWI=\n\n\n-----END A-----\n",
		"-----BEGIN A-----\nYQ==\r-----END A-----\n", "-----BEGIN A-----\rYQ==\r-----END A-----\r",
	}
	var cases []pemCase
	for _, text := range texts {
		found, _ := pem.Decode([]byte(text))
		record := pemCase{Text: text}
		if found != nil {
			record.Found, record.Type, record.Hex = true, found.Type, hex.EncodeToString(found.Bytes)
		}
		cases = append(cases, record)
	}
	write("pem.json", cases)
}

type wholeCase struct {
	Text  string `json:"text"`
	Whole bool   `json:"is_whole"`
}

// Which values of states the provider takes for a PEM.
func recordWhole() {
	pattern := regexp.MustCompile(`^-----BEGIN [[:alpha:] ]+-----\n(.|\s)+\n-----END [[:alpha:] ]+-----\n?$`)
	good := block("A B", []byte("x"))
	var cases []wholeCase
	for _, text := range []string{
		good, strings.TrimSpace(good), good + "\n", " " + good, good + " ", "x", "", strings.ReplaceAll(good, "A B", ""), strings.ReplaceAll(good, "A B", "A1"), strings.ReplaceAll(good, "A B", " "),
		strings.ReplaceAll(good, "\n", "\r\n"), good + good, strings.Replace(good, "A B", "C", 1), "-----BEGIN A-----\n-----END A-----\n", "-----BEGIN A-----\n\n-----END A-----\n", "-----BEGIN A-----\n\n\n-----END A-----\n",
		"-----BEGIN A-----\né\n-----END A-----", "0123456789abcdef0123456789abcdef01234567", "-----BEGIN A-----\nx-----END A-----\n", "-----BEGIN A----\nx\n-----END A-----\n",
	} {
		cases = append(cases, wholeCase{text, pattern.MatchString(text)})
	}
	write("whole.json", cases)
}

type generateCase struct {
	Bits  int    `json:"bits"`
	Error string `json:"error"`
}

func recordGenerate() {
	var cases []generateCase
	for _, bits := range []int{-5, 0, 1, 31, 512, 1023, 1024, 1025} {
		record := generateCase{Bits: bits}
		if _, err := rsa.GenerateKey(rand.Reader, bits); err != nil {
			record.Error = err.Error()
		}
		cases = append(cases, record)
	}
	write("generate.json", cases)
}

func main() {
	recordKeys()
	recordReads()
	recordPems()
	recordWhole()
	recordGenerate()
	recordTexts()
	recordProxies()
	recordTimes()
	recordRequests()
	recordCertificates()
	recordDescriptions()
}
