{{/*
Refuses values with unknown names, and says which known one is nearest. A schema could only
refuse them.
*/}}
{{- define "spokeshave.names" -}}
{{- range $group, $known := .Files.Get "files/names.yaml" | fromYaml }}
{{- $values := $.Values }}
{{- $prefix := "" }}
{{- if ne $group "." }}
{{- $prefix = printf "%s." $group }}
{{- range $part := splitList "." $group }}
{{- $values = get $values $part | default dict }}
{{- end }}
{{- end }}
{{- range $name, $_ := $values }}
{{- if not (has $name $known) }}
{{- $near := include "spokeshave.nearest" (dict "word" $name "words" $known) }}
{{- fail (printf "unknown value %s%s%s" $prefix $name (ternary "" (printf ": did you mean %s%s?" $prefix $near) (empty $near))) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/*
The one of .words that has most pairs of adjacent letters in common with .word, whatever
the case; nothing when fewer than half of the pairs are.
*/}}
{{- define "spokeshave.nearest" -}}
{{- $best := "" }}
{{- $most := 49 }}
{{- $word := lower .word }}
{{- range $known := .words }}
{{- $common := 0 }}
{{- range $i := until (int (sub (len $word) 1)) }}
{{- if contains (substr $i (int (add $i 2)) $word) (lower $known) }}{{ $common = add1 $common }}{{ end }}
{{- end }}
{{- $share := div (mul 200 $common) (max 1 (sub (add (len $word) (len $known)) 2)) }}
{{- if gt (int $share) (int $most) }}
{{- $best = $known }}
{{- $most = $share }}
{{- end }}
{{- end }}
{{- $best }}
{{- end }}
