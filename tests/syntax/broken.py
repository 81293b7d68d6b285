#!/usr/bin/env python3
"""Records what the reference says of files with one mistake each: broken.py > broken.jsonl

Needs terraform 1.11.4 on the PATH. The first lines are the files below; each line after them is a case: a piece of one of the files
that is replaced by another, and what `terraform validate -json` then says (severity, summary, detail, range).
"""
import concurrent.futures
import json
import os
import subprocess
import sys
import tempfile

NETWORK = '''# Networks of an environment.
variable "zones" {
  type        = list(string)
  description = "Zones, in order"
  default     = ["a", "b", "c"]

  validation {
    condition     = length(var.zones) > 0 && var.zones != null
    error_message = "At least one zone."
  }
}

locals {
  cidr    = "10.0.0.0/16"
  subnets = { for i, z in var.zones : z => cidrsubnet(local.cidr, 8, i) if z != "" }
  tags = {
    Name        = "net-${terraform.workspace}"
    "team:name" = upper("core")
    Owner       : "ops"
  }
  first = local.subnets[var.zones[0]]
}

output "subnets" {
  value     = values(local.subnets)[*]
  sensitive = false
}
'''

SERVICE = '''/* A service
   and its settings */
resource "terraform_data" "service" {
  count = local.enabled ? 2 : 0
  input = {
    name    = "svc-${count.index}"
    command = ["/bin/sh", "-c", "echo hi"]
    port    = 8000 + count.index * 10
  }

  lifecycle {
    create_before_destroy = true
    ignore_changes        = [input]
  }

  provisioner "local-exec" {
    command = "echo ${self.id}"
  }
}

locals {
  enabled = !false
  half    = -1.5e3
  all     = terraform_data.service[*].output.name
  legacy  = terraform_data.service.*.id
}
'''

SCRIPT = '''locals {
  users = ["ann", "bob"]
  script = <<-EOT
    #!/bin/sh
    %{ for user in local.users ~}
    adduser ${user}
    %{ endfor ~}
    echo "done" $${HOME}
  EOT
  plain = <<PLAIN
text
PLAIN
  inline = "%{ if length(local.users) > 1 }many%{ else }one%{ endif }"
  path   = "C:\\\\temp\\t\\u00e9 \\"quoted\\""
}

output "script" {
  value      = local.script
  depends_on = [terraform_data.one]
}

resource "terraform_data" "one" {}
'''

ONELINE = '''variable "size" { type = number }
variable "name" { default = "x" }
output "o" { value = { a = 1, b = [1, 2], c = (1 + 2) } }
locals {
  f = merge({ a = 1 }, [{ b = 2 }]...)
  g = [for v in [1, 2, 3] : v * 2 if v > 1]
  h = { for k, v in { a = 1 } : k => v... }
  i = var.size == 1 ? "one" : var.size >= 2 || false ? "more" : "none"
  j = provider::terraform::encode_expr("x")
}
'''

EDITS = {
    'network': (NETWORK, [
        ('variable "zones" {', 'variable "zones"'), ('variable "zones" {', 'variable zones {'), ('variable "zones" {', 'variable "zones {'),
        ('variable "zones" {', 'variable \'zones\' {'), ('variable "zones" {', 'variable = "zones" {'), ('variable "zones" {', 'variable "zones" = {'),
        ('variable "zones" {', 'variable "zones"\n{'), ('variable "zones" {', 'variable {'), ('variable "zones" {', 'variable "zones" "more" {'),
        ('variable "zones" {', '"variable" "zones" {'), ('variable "zones" {', 'variable "zo${1}nes" {'), ('variable "zones" {', 'variable "zo%{if}nes" {'),
        ('variable "zones" {', 'variable: "zones" {'), ('variable "zones" {', 'variable("zones") {'), ('variable "zones" {', 'variable "zones" ({'),
        ('variable "zones" {', 'variable \u201czones\u201d {'), ('variable "zones" {', 'variable "zo\\qnes" {'), ('variable "zones" {', 'variable "zones" [{'),
        ('= list(string)', '= list(string'), ('= list(string)', '= list string'), ('= list(string)', '= list[string]'), ('= list(string)', '= list<string>'),
        ('= list(string)', '= list(string))'), ('= list(string)', ': list(string)'), ('= list(string)', '== list(string)'), ('= list(string)', '=> list(string)'),
        ('= list(string)', '= list()'), ('= list(string)', 'list(string)'), ('= list(string)', '='), ('= list(string)', '= list(string);'), ('= list(string)', '= list(string),'),
        ('"Zones, in order"', '"Zones, in order'), ('"Zones, in order"', 'Zones, in order'), ('"Zones, in order"', '\'Zones, in order\''),
        ('"Zones, in order"', '\u201cZones, in order\u201d'), ('"Zones, in order"', '"Zones, "in" order"'), ('"Zones, in order"', '"Zones, \\in order"'),
        ('"Zones, in order"', '"Zones,\nin order"'), ('"Zones, in order"', '`Zones`'), ('"Zones, in order"', '"Zones" "in order"'), ('"Zones, in order"', '"Zones" + '),
        ('["a", "b", "c"]', '["a", "b", "c"'), ('["a", "b", "c"]', '["a" "b", "c"]'), ('["a", "b", "c"]', '["a", "b" "c"]'), ('["a", "b", "c"]', '["a",, "b"]'),
        ('["a", "b", "c"]', '["a", "b", "c",]'), ('["a", "b", "c"]', '["a", "b", "c"]]'), ('["a", "b", "c"]', '"a", "b", "c"]'), ('["a", "b", "c"]', '["a"; "b"]'),
        ('["a", "b", "c"]', '["a", "b", "c")'), ('["a", "b", "c"]', '["a", "b", "c"}'), ('["a", "b", "c"]', '[,]'), ('["a", "b", "c"]', '["a" = "b"]'), ('["a", "b", "c"]', '{"a", "b"}'),
        ('["a", "b", "c"]', '["a", for]'), ('["a", "b", "c"]', '[\'a\', \'b\', \'c\']'),
        ('> 0 &&', '> 0 &'), ('> 0 &&', '> 0 and'), ('> 0 &&', '> 0 && &&'), ('> 0 &&', '> > 0 &&'), ('> 0 &&', '=> 0 &&'), ('> 0 &&', '>= = 0 &&'), ('> 0 &&', '> 0 |'), ('> 0 &&', '> 0 ^'),
        ('!= null', '!== null'), ('!= null', '<> null'), ('!= null', '=! null'), ('!= null', '! = null'), ('!= null', '!='), ('!= null', 'is null'), ('!= null', '= null'),
        ('length(var.zones)', 'length(var.zones'), ('length(var.zones)', 'length var.zones'), ('length(var.zones)', 'length((var.zones)'), ('length(var.zones)', 'length(var.)'),
        ('length(var.zones)', 'length(var..zones)'), ('length(var.zones)', 'length(.zones)'), ('length(var.zones)', 'length(var.zones,,)'), ('length(var.zones)', 'length(var zones)'),
        ('length(var.zones)', 'length(var.zones...,)'), ('length(var.zones)', 'length(var.zones..)'), ('length(var.zones)', 'length[var.zones]'), ('length(var.zones)', 'length(var.zones[)'),
        ('length(var.zones)', 'length(var.zones[0)'), ('length(var.zones)', 'length(var.zones[])'), ('length(var.zones)', 'length(var.zones.0.1)'), ('length(var.zones)', 'length(var.zones[0 1])'),
        ('error_message = "At least one zone."\n  }', 'error_message = "At least one zone."'), ('error_message = "At least one zone."\n  }', 'error_message = "At least one zone." }'),
        ('  validation {', '  validation'), ('  validation {', '  validation ='), ('  validation {', '  validation = {'), ('  validation {', '  validation: {'), ('  validation {', '  validation [{'),
        ('\n  }\n}\n\nlocals', '\n  }\n\nlocals'), ('\n  }\n}\n\nlocals', '\n  }\n}}\n\nlocals'), ('\n  }\n}\n\nlocals', '\n  }\n} // end\n\nlocals'), ('\n  }\n}\n\nlocals', '\n  }\n} locals'),
        ('locals {', 'locals'), ('locals {', 'locals = {'), ('locals {', '{'), ('locals {', 'local s {'), ('locals {', 'locals {{'), ('locals {', 'lo@cals {'), ('locals {', '1ocals {'), ('locals {', '-locals {'),
        ('for i, z in var.zones :', 'for i, z in var.zones'), ('for i, z in var.zones :', 'for i z in var.zones :'), ('for i, z in var.zones :', 'for in var.zones :'), ('for i, z in var.zones :', 'for i, z of var.zones :'),
        ('for i, z in var.zones :', 'for i, z in :'), ('for i, z in var.zones :', 'for i, in var.zones :'), ('for i, z in var.zones :', 'for (i, z) in var.zones :'), ('for i, z in var.zones :', 'for "i", z in var.zones :'),
        ('for i, z in var.zones :', 'for i, z in var.zones =>'), ('for i, z in var.zones :', 'for i, z, y in var.zones :'), ('z => cidrsubnet', 'cidrsubnet'), ('z => cidrsubnet', 'z = cidrsubnet'), ('z => cidrsubnet', 'z : cidrsubnet'),
        ('z => cidrsubnet', 'z => => cidrsubnet'), ('z => cidrsubnet', '=> cidrsubnet'), ('if z != ""', 'if'), ('if z != ""', 'when z != ""'), ('if z != ""', 'if z != "" else 1'), ('if z != "" }', 'if z != "" ]'), ('if z != "" }', 'if z != ""'),
        ('Name        = "net', 'Name "net'), ('Name        = "net', 'Name => "net'), ('Name        = "net', 'Name == "net'), ('Name        = "net', 'Na me = "net'), ('Name        = "net', 'Name.x = "net'), ('Name        = "net', '= "net'), ('Name        = "net', 'Name = = "net'),
        ('${terraform.workspace}', '${terraform.workspace'), ('${terraform.workspace}', '${terraform.}'), ('${terraform.workspace}', '${}'), ('${terraform.workspace}', '${terraform workspace}'), ('${terraform.workspace}', '${terraform:workspace}'),
        ('${terraform.workspace}', '${{terraform.workspace}}'), ('${terraform.workspace}', '${"terraform}'), ('${terraform.workspace}', '${upper("x)}'), ('${terraform.workspace}', '${terraform.workspace}}'), ('${terraform.workspace}', '$terraform.workspace'),
        ('"team:name" =', '"team:name'), ('"team:name" =', 'team:name ='), ('"team:name" =', 'team.name ='), ('"team:name" =', '(team:name) ='), ('"team:name" =', '"team:name"'), ('"team:name" =', 'team-name, '), ('"team:name" =', 'team name ='), ('"team:name" =', '[team] ='),
        ('upper("core")', 'upper("core"'), ('upper("core")', 'upper "core"'), ('upper("core")', 'upper(core")'), ('upper("core")', 'upper::("core")'), ('upper("core")', 'upper::("core"'), ('upper("core")', 'core::upper "core"'), ('upper("core")', '::upper("core")'),
        ('Owner       : "ops"\n  }', 'Owner : "ops"\n'), ('Owner       : "ops"\n  }', 'Owner : "ops"}'), ('Owner       : "ops"\n  }', 'Owner : "ops" x\n  }'), ('Owner       : "ops"\n  }', 'Owner : "ops"\n  ]'),
        ('[var.zones[0]]', '[var.zones[0]'), ('[var.zones[0]]', '[var.zones[*]]'), ('[var.zones[0]]', '[*'), ('[var.zones[0]]', '[* ]x'), ('[var.zones[0]]', '["a"'), ('[var.zones[0]]', '.'), ('[var.zones[0]]', '.*.*'), ('[var.zones[0]]', '.*.'), ('[var.zones[0]]', '.*.0.1'), ('[var.zones[0]]', '.1x'),
        ('value     = values(local.subnets)[*]', 'value     = values(local.subnets)[*'), ('sensitive = false\n}\n', 'sensitive = false\n'), ('sensitive = false\n}\n', 'sensitive = false\n}\n}\n'), ('sensitive = false\n}\n', 'sensitive = false }\n'), ('sensitive = false', 'sensitive = false true'), ('sensitive = false', 'sensitive false'), ('sensitive = false', 'sensitive'),
        ('sensitive = false', 'sensitive = false\n  sensitive = true'), ('# Networks', 'Networks'), ('# Networks', '-- Networks'), ('# Networks', '/* Networks'), ('# Networks', '<!-- Networks -->'), ('# Networks', '; Networks'), ('"10.0.0.0/16"', '10.0.0.0/16'), ('"10.0.0.0/16"', '"10.0.0.0/16""'),
    ]),
    'service': (SERVICE, [
        ('   and its settings */', '   and its settings'), ('/* A service', '// A service'), ('resource "terraform_data" "service" {', 'resource "terraform_data" "service" {{'), ('resource "terraform_data" "service" {', 'resource "terraform_data" service" {'),
        ('resource "terraform_data" "service" {', 'resource "terraform_data", "service" {'), ('resource "terraform_data" "service" {', 'resource terraform_data.service {'), ('resource "terraform_data" "service" {', 'resource "terraform_data" "service" => {'), ('resource "terraform_data" "service" {', 'resource "terraform_data" 1 {'),
        ('? 2 : 0', '? 2'), ('? 2 : 0', '? : 0'), ('? 2 : 0', '? 2 :'), ('? 2 : 0', '?: 0'), ('? 2 : 0', '?? 0'), ('? 2 : 0', '? 2 : 0 : 1'), ('? 2 : 0', '? 2 0'), ('? 2 : 0', 'then 2 else 0'), ('? 2 : 0', '? 2, 0'), ('? 2 : 0', '?\n 2 : 0'), ('? 2 : 0', ': 2'),
        ('input = {', 'input {'), ('input = {', 'input = ('), ('input = {', 'input ='), ('input = {', 'input ={{'), ('input = {', 'input = [{'), ('= "svc-${count.index}"', '= svc-${count.index}'), ('= "svc-${count.index}"', '= "svc-${count.index}'), ('= "svc-${count.index}"', '= "svc-%{count.index}"'), ('= "svc-${count.index}"', '= "svc-${count.index" '),
        ('"echo hi"]', '"echo hi", ]]'), ('"echo hi"]', '"echo hi"'), ('"echo hi"]', '"echo \\hi"]'), ('"echo hi"]', '"echo \\x41"]'), ('"echo hi"]', '"echo \\u12"]'), ('"echo hi"]', '"echo \\U0000zz"]'), ('"echo hi"]', '"echo \\ud800"]'), ('"echo hi"]', '"echo \\"]'), ('"echo hi"]', '"echo \'hi\'" \'x\']'),
        ('8000 + count.index * 10', '8000 + * 10'), ('8000 + count.index * 10', '8000 +'), ('8000 + count.index * 10', '8000 ++ 1'), ('8000 + count.index * 10', '8_000'), ('8000 + count.index * 10', '0x1F'), ('8000 + count.index * 10', '1.2.3'), ('8000 + count.index * 10', '1..2'), ('8000 + count.index * 10', '1e'), ('8000 + count.index * 10', '1e5e5'), ('8000 + count.index * 10', '2 ** 3'), ('8000 + count.index * 10', '7 // 2'), ('8000 + count.index * 10', '7 % % 2'), ('8000 + count.index * 10', '(8000 + 1'), ('8000 + count.index * 10', '8000 + 1)'), ('8000 + count.index * 10', '(8000 + 1]'), ('8000 + count.index * 10', '()'), ('8000 + count.index * 10', '(1, 2)'), ('8000 + count.index * 10', '1 << 2'), ('8000 + count.index * 10', '~1'), ('8000 + count.index * 10', '.5'), ('8000 + count.index * 10', '5.'), ('8000 + count.index * 10', '$x'), ('8000 + count.index * 10', '@x'), ('8000 + count.index * 10', '\u2018x\u2019'), ('8000 + count.index * 10', '8000\u00a0+ 1'), ('8000 + count.index * 10', 'x ->'), ('8000 + count.index * 10', '${count.index}'),
        ('create_before_destroy = true', 'create_before_destroy true'), ('create_before_destroy = true', 'create_before_destroy := true'), ('create_before_destroy = true', 'create_before_destroy = true, x = 1'), ('create_before_destroy = true', 'create before destroy = true'), ('create_before_destroy = true', 'create_before_destroy += true'), ('lifecycle {', 'lifecycle { x'), ('lifecycle {', 'lifecycle { a = 1'), ('lifecycle {', 'lifecycle { a = 1, b = 2 }'), ('lifecycle {', 'lifecycle { a { } }'), ('lifecycle {', 'lifecycle { "a" = 1 }'), ('lifecycle {', 'lifecycle (')
        , ('provisioner "local-exec" {', 'provisioner "local-exec" "x'), ('provisioner "local-exec" {', 'provisioner local-exec; {'), ('"echo ${self.id}"', '"echo ${self.id"'), ('"echo ${self.id}"', '"echo ${self.id}'), ('"echo ${self.id}"', '"echo ${self.id}" >'), ('"echo ${self.id}"', '"echo ${self.id}"\n"x"'), ('"echo ${self.id}"', 'echo ${self.id}'),
        ('"echo ${self.id}"\n  }\n}', '"echo ${self.id}"\n  }'), ('"echo ${self.id}"\n  }\n}', '"echo ${self.id}"\n}'), ('enabled = !false', 'enabled = not false'), ('enabled = !false', 'enabled = !'), ('enabled = !false', 'enabled = !!'), ('enabled = !false', 'enabled ! = false'), ('-1.5e3', '- -'), ('-1.5e3', '+1'), ('-1.5e3', '--'), ('.output.name', '..name'), ('.output.name', '.output.'), ('.output.name', '.output."name"'), ('.output.name', '.output.[name]'), ('.output.name', '->name'), ('.*.id', '.*'), ('.*.id', '.*.*'), ('.*.id', '.**.id'), ('.*.id', '.*id'), ('.*.id\n}', '.*.id'),
    ]),
    'script': (SCRIPT, [
        ('<<-EOT', '<<-EOT '), ('<<-EOT', '<<- EOT'), ('<<-EOT', '<<-"EOT"'), ('<<-EOT', '<<<EOT'), ('<<-EOT', '<-EOT'), ('<<-EOT', '<<~EOT'), ('<<-EOT', '<<-EOTX'), ('<<-EOT', '<<-EOT # comment'), ('<<-EOT', '<<-'), ('<<-EOT', '<<-1'), ('  EOT\n', '  EOT;\n'), ('  EOT\n', '  EOF\n'), ('  EOT\n', '  EOT)\n'), ('  EOT\n', ''), ('  EOT\n', '  EOT x\n'), ('\nPLAIN\n', '\nPLAN\n'), ('\nPLAIN\n', '\nPLAIN'), ('\nPLAIN\n', '\n PLAIN \n'),
        ('%{ for user in local.users ~}', '%{ for user in local.users'), ('%{ for user in local.users ~}', '%{ for user of local.users ~}'), ('%{ for user in local.users ~}', '%{ for in local.users ~}'), ('%{ for user in local.users ~}', '%{ each user in local.users ~}'), ('%{ for user in local.users ~}', '%{ fro user in local.users ~}'), ('%{ for user in local.users ~}', '%{ ~}'), ('%{ for user in local.users ~}', '%{ for user, in local.users ~}'), ('%{ for user in local.users ~}', '%{ for user in local.users : ~}'), ('%{ for user in local.users ~}', '%{ if true ~}'), ('%{ for user in local.users ~}', '%{ endfor ~}'), ('%{ for user in local.users ~}', '%{ else ~}'), ('%{ for user in local.users ~}', ''), ('%{ for user in local.users ~}', '%{ for user in ~}'), ('%{ for user in local.users ~}', '%{ "for" ~}'),
        ('%{ endfor ~}', ''), ('%{ endfor ~}', '%{ endfor'), ('%{ endfor ~}', '%{ end ~}'), ('%{ endfor ~}', '%{ endif ~}'), ('%{ endfor ~}', '%{ endfor x ~}'), ('%{ endfor ~}', '%{ endfor ~}%{ endfor ~}'), ('%{ endfor ~}', '%{ else ~}x%{ endfor ~}'), ('%{ endfor ~}', '%{ edfor ~}'),
        ('${user}', '${user'), ('${user}', '${user)'), ('${user}', '${user:-x}'), ('${user}', '${!user}x${'), ('${user}', '${ "a" "b" }'), ('${user}', '${user}}'), ('${user}', '${~}'), ('${user}', '${[user}'), ('${user}', '${user ? 1}'), ('$${HOME}', '${HOME'), ('$${HOME}', '$${HOME'), ('$${HOME}', '${HOME:-/root}'), ('$${HOME}', '${#HOME}'), ('$${HOME}', '${HOME[@]}'), ('$${HOME}', '%{HOME}'),
        ('%{ if length(local.users) > 1 }', '%{ if }'), ('%{ if length(local.users) > 1 }', '%{ if length(local.users) > 1'), ('%{ if length(local.users) > 1 }', '%{ if length(local.users > 1 }'), ('%{ if length(local.users) > 1 }', '%{ elif true }'), ('%{ if length(local.users) > 1 }', '%{ if length(local.users) > 1 then }'), ('%{ if length(local.users) > 1 }', '%{ if (true }'), ('%{ else }one', '%{ else }one%{ else }two'), ('%{ else }one', '%{ else if true }one'), ('%{ else }one', '%{ esle }one'), ('%{ endif }"', '"'), ('%{ endif }"', '%{ endif "'), ('%{ endif }"', '%{ endfor }"'), ('%{ endif }"', '%{ endif }%{ endif }"'), ('%{ endif }"', '%{ endif }'), ('%{ endif }"', '%{ end if }"'), ('%{ endif }"', '%"'), ('%{ endif }"', '$"'), ('%{ endif }"', '%{ endif }\\'),
        ('C:\\\\temp', 'C:\\temp'), ('C:\\\\temp', 'C:\\Users'), ('C:\\\\temp', 'C:\\users'), ('C:\\\\temp', 'C:\\d'), ('C:\\\\temp', '\\0'), ('\\u00e9', '\\u00g9'), ('\\u00e9', '\\u{e9}'), ('\\u00e9', '\\U000000e'), ('\\u00e9', '\\U00110000'), ('\\u00e9', '\\\u00e9'), ('\\"quoted\\""', '\\"quoted\\"'), ('\\"quoted\\""', '"quoted""'), ('\\"quoted\\""', '\\\'quoted\\\'"'),
        ('[terraform_data.one]', '["terraform_data.one"]'), ('[terraform_data.one]', '["terraform_data."]'), ('[terraform_data.one]', '[terraform_data.one'), ('[terraform_data.one]', 'terraform_data.one'), ('[terraform_data.one]', '["terraform_data.one[*]"]'), ('[terraform_data.one]', '["terraform_data.one[x]"]'), ('[terraform_data.one]', '["terraform_data.one["]'), ('[terraform_data.one]', '["terraform_data one"]'), ('[terraform_data.one]', '["terraform_data.${x}"]'), ('[terraform_data.one]', '["1.x"]'), ('[terraform_data.one]', '[terraform_data.one.]'), ('[terraform_data.one]', '[]]'), ('"one" {}', '"one" { }}'), ('"one" {}', '"one" {'), ('"one" {}', '"one" ()'), ('"one" {}', '"one" {};'), ('"one" {}', '"one" {} # ok'), ('"one" {}', '"one"'), ('"one" {}', '"one" {} resource "terraform_data" "two" {}'),
    ]),
    'oneline': (ONELINE, [
        ('{ type = number }', '{ type = number'), ('{ type = number }', '{ type number }'), ('{ type = number }', '{ type = number, default = 1 }'), ('{ type = number }', '{ type = number; default = 1 }'), ('{ type = number }', '{ type = number default = 1 }'), ('{ type = number }', '{ type = number\n}'), ('{ type = number }', '{\n type = number }'), ('{ type = number }', '{ = number }'), ('{ type = number }', '{ "type" = number }'), ('{ type = number }', '{ type = }'), ('{ type = number }', '{ type }'), ('{ type = number }', '{ validation { } }'), ('{ type = number }', '{ validation "x" { } }'), ('{ type = number }', '{ 1 }'), ('{ type = number }', '{ type: number }'), ('{ type = number }', '{} {}'), ('{ type = number }', '{ type = "number }'), ('{ type = number }', '{ type = number } }'), ('{ type = number }', '{ type = number /* }'), ('{ type = number }', '{ type = number # }'), ('{ type = number }', '{ # c\n }'), ('{ type = number }', '{ .. }'),
        ('{ a = 1, b', '{ a = 1 b'), ('{ a = 1, b', '{ a = 1; b'), ('{ a = 1, b', '{ a, b'), ('{ a = 1, b', '{ a = 1,, b'), ('{ a = 1, b', '{ , b'), ('{ a = 1, b', '{ a b = 1, b'), ('{ a = 1, b', '{ a.b.c = 1, b'), ('{ a = 1, b', '{ a[0] = 1, b'), ('{ a = 1, b', '{ f(x) = 1, b'), ('{ a = 1, b', '{ ${x} = 1, b'), ('{ a = 1, b', '{ 1a = 1, b'), ('{ a = 1, b', '{ null = 1, 5 = 2, b'), ('{ a = 1, b', '{ for = 1, b'), ('{ a = 1, b', '{ "${x}" 1, b'), ('[1, 2]', '[1 2]'), ('[1, 2]', '[1, 2'), ('[1, 2]', '[1: 2]'), ('[1, 2]', '(1, 2]'), ('(1 + 2)', '(1 + 2'), ('(1 + 2)', '1 + 2)'), ('(1 + 2)', '(1 +)'), ('(1 + 2)', '(1 2)'), ('(1 + 2) } }', '(1 + 2) }'), ('(1 + 2) } }', '(1 + 2) } } }'), ('(1 + 2) } }', '(1 + 2)'),
        (']...)', ']....)'), (']...)', ']..)'), (']...)', ']...'), (']...)', ']..., 1)'), (']...)', ']... 1)'), (']...)', ']\u2026)'), ('[{ b = 2 }]', '[{ b = 2 }'), ('[{ b = 2 }]', '[{ b = 2 ]'), ('[{ b = 2 }]', '[{ b == 2 }]'), ('f = merge', 'f == merge'), ('f = merge', 'f merge'), ('f = merge', '"f" = merge'), ('f = merge', 'f.x = merge'), ('f = merge', 'f[0] = merge'), ('f = merge', '(f) = merge'), ('f = merge', '${f} = merge'), ('f = merge', 'f = f = merge'), ('f = merge', 'f, g = merge'),
        ('for v in [1, 2, 3] :', 'for v in [1, 2, 3]'), ('for v in [1, 2, 3] :', 'for v [1, 2, 3] :'), ('for v in [1, 2, 3] :', 'for v in [1, 2, 3 :'), ('for v in [1, 2, 3] :', 'for each v in [1, 2, 3] :'), ('for v in [1, 2, 3] :', 'for v in 1 2 :'), ('v * 2 if v > 1', 'v * 2, if v > 1'), ('v * 2 if v > 1', 'v => v * 2'), ('v * 2 if v > 1', 'v...'), ('v * 2 if v > 1', 'v if'), ('v * 2 if v > 1', ''), ('v * 2 if v > 1', 'v v'), ('v * 2 if v > 1', 'v if v ? 1'), ('k => v...', 'k => v....'), ('k => v...', 'k => '), ('k => v...', 'k => v... if'), ('k => v...', 'k v'), ('k => v...', 'k => v => k'), ('k => v...', 'k = v'), ('k => v... }', 'k => v...'),
        ('? "one" : var', '? "one" var'), ('? "one" : var', '? "one : var'), ('? "one" : var', '"one" : var'), ('>= 2 ||', '>= 2 |'), ('>= 2 ||', '>= 2 || ||'), ('>= 2 ||', '= > 2 ||'), ('>= 2 ||', '>= 2 or'), ('== 1 ?', '= 1 ?'), ('== 1 ?', '=== 1 ?'), ('provider::terraform::encode_expr("x")', 'provider::terraform::("x")'), ('provider::terraform::encode_expr("x")', 'provider::terraform::encode_expr'), ('provider::terraform::encode_expr("x")', 'provider::terraform:encode_expr("x")'), ('provider::terraform::encode_expr("x")', 'provider::terraform::encode_expr["x"]'), ('provider::terraform::encode_expr("x")', 'provider::terraform::encode_expr(\n"x"\n'), ('provider::terraform::encode_expr("x")', 'provider::::x("x")'),
    ]),
}


def cases():
    for name, (text, edits) in EDITS.items():
        for old, new in edits:
            assert text.count(old) >= 1, (name, old)
            yield name, old, new


def position(p):
    return [p['line'], p['column'], p['byte']]


def record(case):
    name, old, new = case
    text = EDITS[name][0].replace(old, new, 1)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, 'main.tf'), 'w', encoding='utf-8', newline='') as out:
            out.write(text)
        binary = os.environ.get('BIN', 'terraform')
        said = subprocess.run([binary, 'validate', '-json'], cwd=folder, capture_output=True, text=True).stdout
    found = []
    for d in json.loads(said)['diagnostics']:
        r = d.get('range')
        found.append([d['severity'], d['summary'], d['detail'], position(r['start']) + position(r['end']) if r else None])
    found.sort(key=lambda d: (d[3] or [], d))  # the reference's own order is chance at times
    return {'file': name, 'old': old, 'new': new, 'diagnostics': found}


def main():
    os.environ.update(CHECKPOINT_DISABLE='1', TF_CLI_CONFIG_FILE='/dev/null')
    for name, (text, _) in EDITS.items():
        sys.stdout.write(json.dumps({'file': name, 'text': text}, ensure_ascii=False) + '\n')
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for case in pool.map(record, cases()):
            sys.stdout.write(json.dumps(case, ensure_ascii=False) + '\n')


if __name__ == '__main__':
    main()
