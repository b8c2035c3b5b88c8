import { secretTexts } from './secret-text.ts';
import type { Section } from './section.ts';

/** What the configuration says about traces. What is left out comes from the `OTEL_` variables of the environment. */
export interface TracingChoice {
  readonly endpoint?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly sampleRatio?: number;
  readonly serviceName?: string;
  readonly acceptTraceparent: boolean;
}

/** `tracing { … }`, or the variable `OTEL_TRACES_EXPORTER=otlp`; undefined: no traces. */
export function readTracing(top: Section, env: Readonly<Record<string, string | undefined>>): TracingChoice | undefined {
  const [first, second] = top.blocks('tracing', 0);
  if (second) second.section.complainHere('is there twice');
  const disabled = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true';
  if (!first) return env['OTEL_TRACES_EXPORTER'] === 'otlp' && !disabled ? { acceptTraceparent: false } : undefined;
  const { section } = first;
  const endpoint = readEndpoint(section);
  const headers = secretTexts(section, 'headers', env);
  const sampleRatio = readRatio(section);
  const serviceName = section.text('service_name');
  const acceptTraceparent = section.bool('accept_traceparent') ?? false;
  const off = section.bool('disabled') ?? false;
  section.done();
  if (off || disabled) return undefined;
  return {
    acceptTraceparent,
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(headers === undefined ? {} : { headers }),
    ...(sampleRatio === undefined ? {} : { sampleRatio }),
    ...(serviceName === undefined ? {} : { serviceName }),
  };
}

function readEndpoint(section: Section): string | undefined {
  const text = section.text('endpoint');
  if (text === undefined) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    section.complain('endpoint', 'must be the URL that spans are posted to, such as "https://collector.example.com:4318/v1/traces"');
  else if (url.username !== '' || url.password !== '') section.complain('endpoint', 'must not contain a user or a password; use headers');
  return text;
}

function readRatio(section: Section): number | undefined {
  const text = section.scalar('sample_ratio');
  if (text === undefined) return undefined;
  const ratio = text.trim() === '' ? NaN : Number(text);
  if (!(ratio >= 0 && ratio <= 1)) section.complain('sample_ratio', 'must be a share of all traces, from 0 to 1, such as 0.1');
  return ratio;
}
