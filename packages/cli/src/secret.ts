import type { JsonRecord } from './json.ts';
import { isRecord, parseJson } from './json.ts';

/** What a login or a token call answers. Durations are in seconds. */
export interface SecretAuth {
  readonly client_token: string;
  readonly accessor: string;
  readonly policies: readonly string[];
  readonly token_policies: readonly string[];
  readonly identity_policies: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly lease_duration: number;
  readonly renewable: boolean;
}

export interface WrapInfo {
  readonly token: string;
  readonly accessor: string;
  readonly ttl: number;
  readonly creation_time: string;
  readonly creation_path: string;
  readonly wrapped_accessor: string;
}

/** The server's envelope, with absent parts filled in, and the whole of it as it came. */
export interface Secret {
  readonly lease_id: string;
  readonly lease_duration: number;
  readonly renewable: boolean;
  readonly data: JsonRecord | undefined;
  readonly auth: SecretAuth | undefined;
  readonly wrap_info: WrapInfo | undefined;
  readonly warnings: readonly string[];
  readonly envelope: JsonRecord;
  readonly text: string;
}

const text = (value: unknown): string => (typeof value === 'string' ? value : '');
const number = (value: unknown): number => (typeof value === 'number' ? value : 0);
const texts = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : []);

function readAuth(value: unknown): SecretAuth | undefined {
  if (!isRecord(value)) return undefined;
  return {
    client_token: text(value['client_token']),
    accessor: text(value['accessor']),
    policies: texts(value['policies']),
    token_policies: texts(value['token_policies']),
    identity_policies: texts(value['identity_policies']),
    metadata: isRecord(value['metadata']) ? value['metadata'] : {},
    lease_duration: number(value['lease_duration']),
    renewable: value['renewable'] === true,
  };
}

function readWrapInfo(value: unknown): WrapInfo | undefined {
  if (!isRecord(value)) return undefined;
  return {
    token: text(value['token']),
    accessor: text(value['accessor']),
    ttl: number(value['ttl']),
    creation_time: text(value['creation_time']),
    creation_path: text(value['creation_path']),
    wrapped_accessor: text(value['wrapped_accessor']),
  };
}

/** Builds a Secret from an envelope; `source` is the text it was read from. */
export function secretFrom(envelope: JsonRecord, source: string): Secret {
  return {
    lease_id: text(envelope['lease_id']),
    lease_duration: number(envelope['lease_duration']),
    renewable: envelope['renewable'] === true,
    data: isRecord(envelope['data']) ? envelope['data'] : undefined,
    auth: readAuth(envelope['auth']),
    wrap_info: readWrapInfo(envelope['wrap_info']),
    warnings: texts(envelope['warnings']),
    envelope,
    text: source,
  };
}

/** Reads a reply's body as an envelope; undefined when it is empty or no object. */
export function readSecret(source: string): Secret | undefined {
  if (source.trim() === '') return undefined;
  const parsed = parseJson(source);
  return isRecord(parsed) ? secretFrom(parsed, source) : undefined;
}
