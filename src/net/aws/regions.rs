//! AWS's regions and the domains of their partitions.
//!
//! Source: the table that version 2.0.0-beta.62 of the library `aws-sdk-go-base` has, which the reference uses.

/// A group of regions with separate accounts and a separate domain.
struct Partition {
    suffix: &'static str,
    dual_stack: &'static str,
    /// Beginnings of the names of its regions.
    prefixes: &'static [&'static str],
    regions: &'static [&'static str],
}

/// The last one is where regions belong that no other knows.
#[rustfmt::skip]
const PARTITIONS: &[Partition] = &[
    Partition { suffix: "amazonaws.com.cn", dual_stack: "api.amazonwebservices.com.cn", prefixes: &["cn-"],
        regions: &["cn-north-1", "cn-northwest-1"] },
    Partition { suffix: "sc2s.sgov.gov", dual_stack: "sc2s.sgov.gov", prefixes: &["us-isob-"],
        regions: &["us-isob-east-1"] },
    Partition { suffix: "csp.hci.ic.gov", dual_stack: "csp.hci.ic.gov", prefixes: &["us-isof-"],
        regions: &["us-isof-east-1", "us-isof-south-1"] },
    Partition { suffix: "c2s.ic.gov", dual_stack: "c2s.ic.gov", prefixes: &["us-iso-"],
        regions: &["us-iso-east-1", "us-iso-west-1"] },
    Partition { suffix: "cloud.adc-e.uk", dual_stack: "cloud.adc-e.uk", prefixes: &["eu-isoe-"],
        regions: &["eu-isoe-west-1"] },
    Partition { suffix: "amazonaws.com", dual_stack: "api.aws", prefixes: &[""],
        regions: &["af-south-1", "ap-east-1", "ap-northeast-1", "ap-northeast-2", "ap-northeast-3", "ap-south-1", "ap-south-2",
            "ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4", "ap-southeast-5", "ap-southeast-7",
            "ca-central-1", "ca-west-1", "eu-central-1", "eu-central-2", "eu-north-1", "eu-south-1", "eu-south-2", "eu-west-1",
            "eu-west-2", "eu-west-3", "il-central-1", "me-central-1", "me-south-1", "mx-central-1", "sa-east-1", "us-east-1",
            "us-east-2", "us-west-1", "us-west-2", "us-gov-east-1", "us-gov-west-1"] },
];

fn partition(region: &str) -> &'static Partition {
    let found = PARTITIONS.iter().find(|p| p.prefixes.iter().any(|prefix| region.starts_with(prefix)));
    found.unwrap_or(&PARTITIONS[PARTITIONS.len() - 1])
}

pub fn is_known(region: &str) -> bool {
    PARTITIONS.iter().any(|partition| partition.regions.contains(&region))
}

/// Which of a service's hosts to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    pub fips: bool,
    pub dual_stack: bool,
}

/// The host of a service in a region. S3's is without the bucket.
pub fn host(service: &str, region: &str, variant: Variant) -> String {
    let partition = partition(region);
    let fips = if variant.fips { "-fips" } else { "" };
    match (service, variant.dual_stack) {
        ("s3", true) => format!("s3{fips}.dualstack.{region}.{}", partition.suffix),
        (service, true) => format!("{service}{fips}.{region}.{}", partition.dual_stack),
        // The regions of the government have these services' own hosts for it.
        ("sts" | "dynamodb", false) if variant.fips && region.starts_with("us-gov-") => {
            format!("{service}.{region}.{}", partition.suffix)
        }
        (service, false) => format!("{service}{fips}.{region}.{}", partition.suffix),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        let plain = Variant::default();
        let both = Variant { fips: true, dual_stack: true };
        let cases = [
            (host("s3", "eu-west-1", plain), "s3.eu-west-1.amazonaws.com"),
            (host("s3", "eu-west-1", both), "s3-fips.dualstack.eu-west-1.amazonaws.com"),
            (host("sts", "cn-north-1", plain), "sts.cn-north-1.amazonaws.com.cn"),
            (host("sts", "us-isob-east-1", plain), "sts.us-isob-east-1.sc2s.sgov.gov"),
            (host("dynamodb", "us-east-1", Variant { fips: true, ..plain }), "dynamodb-fips.us-east-1.amazonaws.com"),
            (
                host("dynamodb", "us-gov-west-1", Variant { fips: true, ..plain }),
                "dynamodb.us-gov-west-1.amazonaws.com",
            ),
            (host("sts", "us-east-1", Variant { dual_stack: true, ..plain }), "sts.us-east-1.api.aws"),
        ];
        for (host, expected) in cases {
            assert_eq!(host, expected);
        }
        assert!(is_known("us-gov-east-1") && is_known("cn-north-1") && !is_known("us-est-1"));
    }
}
