"""Records certificates and requests of the real provider: record.py TERRAFORM FOLDER_OF_THE_PROVIDER

Writes ../reference.json: for each case its arguments and the attributes that the provider set. Keys are those of ../keys.json.
"""
import json, os, subprocess, sys, tempfile

here = os.path.dirname(os.path.abspath(__file__))
keys = {k["name"]: k for k in json.load(open(os.path.join(here, "..", "keys.json")))}
subject = {"common_name": "cn", "organization": "Ö & Co", "organizational_unit": "ou", "street_address": ["b", "a long street"], "locality": "l",
           "province": "p", "country": "NO", "postal_code": "1234", "serial_number": "s-1", "email_address": "a@example.com"}
sans = {"dns_names": ["a.example", "*.b"], "ip_addresses": ["10.0.0.1", "::1", "::ffff:1.2.3.4"], "uris": ["spiffe://x/y", "https://h/a b?c#d e"]}
uses = ["server_auth", "key_encipherment", "client_auth", "decipher_only"]
cases = {"tls_cert_request": [], "tls_self_signed_cert": [], "tls_locally_signed_cert": [], "tls_public_key": [], "tls_certificate": []}
for name in keys:
    private = keys[name]["pem"]
    cases["tls_public_key"].append({"private_key_pem": private})
    if keys[name]["openssh"]:
        cases["tls_public_key"].append({"private_key_openssh": keys[name]["openssh"]})
    for block in [subject]:
        cases["tls_cert_request"].append({"key": name, "private_key_pem": private, "subject": block, **sans})
        for more in [{}, {"is_ca_certificate": True, "max_path_length": 2, "set_authority_key_id": True}, {"set_subject_key_id": True, "max_path_length": 0}]:
            cases["tls_self_signed_cert"].append({"key": name, "private_key_pem": private, "subject": block, "validity_period_hours": 8766, "allowed_uses": uses, **sans, **more})
cases["tls_cert_request"].append({"key": "ed25519", "private_key_pem": keys["ed25519"]["pem"]})


def body(case, i):
    out = {k: v for k, v in case.items() if k != "key"}
    if "subject" in out:
        out["subject"] = [out["subject"]]
    return out


def run(config):
    with tempfile.TemporaryDirectory() as folder:
        json.dump(config, open(os.path.join(folder, "main.tf.json"), "w"))
        rc = os.path.join(folder, "rc")
        open(rc, "w").write('provider_installation {\n dev_overrides {\n "hashicorp/tls" = "%s"\n }\n direct {}\n}\n' % sys.argv[2])
        env = dict(os.environ, TF_CLI_CONFIG_FILE=rc, TZ="Asia/Kathmandu")
        subprocess.run([sys.argv[1], "apply", "-auto-approve", "-no-color"], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL)
        return json.load(open(os.path.join(folder, "terraform.tfstate")))


def values(state):
    found = {}
    for r in state["resources"]:
        for inst in r["instances"]:
            found[(r["type"], int(r["name"][1:]))] = inst["attributes"]
    return found


managed = {t: {f"r{i}": body(c, i) for i, c in enumerate(cases[t])} for t in ["tls_cert_request", "tls_self_signed_cert"]}
data = {"tls_public_key": {f"r{i}": c for i, c in enumerate(cases["tls_public_key"])}}
# Locally signed ones are made from the first requests and the authorities among the self-signed certificates.
local = managed["tls_locally_signed_cert"] = {}
for i, self_signed in enumerate(cases["tls_self_signed_cert"]):
    if not self_signed.get("is_ca_certificate") or self_signed["key"] == "p224":
        continue
    for j in (0, 4, 8):
        n = len(local)
        case = {"key": self_signed["key"], "request": j, "authority": i, "validity_period_hours": 1, "allowed_uses": uses, "set_subject_key_id": j == 0}
        cases["tls_locally_signed_cert"].append(case)
        local[f"r{n}"] = {"cert_request_pem": "${tls_cert_request.r%d.cert_request_pem}" % j, "ca_private_key_pem": self_signed["private_key_pem"],
                          "ca_cert_pem": "${tls_self_signed_cert.r%d.cert_pem}" % i, **{k: case[k] for k in ("validity_period_hours", "allowed_uses", "set_subject_key_id")}}
data["tls_certificate"] = {}
for i in range(0, len(cases["tls_self_signed_cert"]), 5):
    cases["tls_certificate"].append({})
    data["tls_certificate"][f"r{len(cases['tls_certificate']) - 1}"] = {"content": "${tls_self_signed_cert.r%d.cert_pem}" % i}
found = values(run({"resource": managed, "data": data}))
out = [{"type": t, "case": {k: v for k, v in c.items()}, "is": found[(t, i)]} for t in cases for i, c in enumerate(cases[t])]
computed = ("cert_request_pem", "cert_pem", "id", "key_algorithm", "ca_key_algorithm", "validity_start_time", "validity_end_time", "algorithm", "certificates",
            "public_key_pem", "public_key_openssh", "public_key_fingerprint_md5", "public_key_fingerprint_sha256")
for record in out:
    record["is"] = {k: v for k, v in record["is"].items() if k in computed and not (k == "cert_request_pem" and record["type"] == "tls_locally_signed_cert")}
    if record["type"] != "tls_public_key":
        record["case"].pop("private_key_pem", None)
json.dump(out, open(os.path.join(here, "..", "reference.json"), "w"), indent=1, ensure_ascii=False)
