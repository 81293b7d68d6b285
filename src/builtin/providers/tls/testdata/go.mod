module record

go 1.24.8

require (
	golang.org/x/crypto v0.47.0
	golang.org/x/net v0.49.0
)

require (
	golang.org/x/sys v0.40.0 // indirect
	golang.org/x/text v0.33.0 // indirect
)
