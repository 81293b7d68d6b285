//! Regions and the domains of their services.

/// The domain of a region's services. Regions of the commercial cloud are too many to list; those of other clouds have telling names.
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
        _ => "oraclecloud.com",
    }
}

/// The region that a short code means.
pub fn name(region: &str) -> &str {
    match region.to_ascii_lowercase().as_str() {
        "phx" => "us-phoenix-1",
        "iad" => "us-ashburn-1",
        "fra" => "eu-frankfurt-1",
        "lhr" => "uk-london-1",
        "ams" => "eu-amsterdam-1",
        "nrt" => "ap-tokyo-1",
        "sjc" => "us-sanjose-1",
        "gru" => "sa-saopaulo-1",
        "yyz" => "ca-toronto-1",
        "syd" => "ap-sydney-1",
        "bom" => "ap-mumbai-1",
        _ => region,
    }
}
