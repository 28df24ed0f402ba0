{{- define "accrete.name" -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "accrete.labels" -}}
app.kubernetes.io/name: accrete
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}

{{- define "accrete.selector" -}}
app.kubernetes.io/name: accrete
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "accrete.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "accrete.name" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}

{{- /* The pod of a component: (dict "root" $ "component" "learner" "values" .Values.learner "port" 8080 "args" (list …));
with "leaves" true, it waits for its Service to forget it before it stops. */ -}}
{{- define "accrete.pod" -}}
{{- $scheme := ternary "HTTPS" "HTTP" (hasKey (.root.Values.config.http | default dict) "tls.cert_file") -}}
metadata:
  labels:
    {{- include "accrete.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  annotations:
    checksum/config: {{ toYaml .root.Values.config | sha256sum }}
    {{- with .values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "accrete.serviceAccount" .root }}
  {{- with .root.Values.imagePullSecrets }}
  imagePullSecrets:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  terminationGracePeriodSeconds: {{ if .leaves }}40{{ else }}30{{ end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 65532
    runAsGroup: 65532
    fsGroup: 65532
    seccompProfile: {type: RuntimeDefault}
  containers:
    - name: {{ .component }}
      image: "{{ .root.Values.image.repository }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}"
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      args: {{ toJson (concat .args .values.args) }}
      {{- with .root.Values.envFrom }}
      envFrom:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      ports:
        - {name: http, containerPort: {{ .port }}}
      {{- if .leaves }}
      lifecycle: # requests arrive until the endpoint is removed everywhere
        preStop: {sleep: {seconds: 5}}
      {{- end }}
      startupProbe:
        httpGet: {path: /livez, port: http, scheme: {{ $scheme }}}
        periodSeconds: 2
        failureThreshold: 30
      readinessProbe:
        httpGet: {path: /readyz, port: http, scheme: {{ $scheme }}}
        periodSeconds: 5
      livenessProbe:
        httpGet: {path: /livez, port: http, scheme: {{ $scheme }}}
        periodSeconds: 10
        failureThreshold: 6
      resources:
        {{- toYaml .values.resources | nindent 8 }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: {drop: [ALL]}
      volumeMounts:
        - {name: config, mountPath: /etc/accrete, readOnly: true}
        - {name: tmp, mountPath: /tmp}
        {{- range $i, $s := .root.Values.secrets }}
        - {name: secret-{{ $i }}, mountPath: {{ $s.mountPath }}, readOnly: true}
        {{- end }}
  volumes:
    - name: config
      configMap: {name: {{ include "accrete.name" .root }}}
    - name: tmp
      emptyDir: {}
    {{- range $i, $s := .root.Values.secrets }}
    - name: secret-{{ $i }}
      secret: {secretName: {{ $s.name }}, defaultMode: 0440}
    {{- end }}
  {{- with .values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "accrete.selector" .root | nindent 10 }}
          app.kubernetes.io/component: {{ .component }}
{{- end -}}
