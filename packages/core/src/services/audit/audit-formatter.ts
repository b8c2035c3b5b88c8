import { BadRequest, writeJson } from '@strongroom/engine-sdk';
import type { CallerIdentity } from '../caller/caller-identity.ts';
import type { WrapInfo } from '../../kernel/call/core-response.ts';
import { AuditDigest } from './audit-digest.ts';
import type { AuditedAuth, AuditedMount, AuditedRequest, AuditedResponse, AuditEntry } from './audit-entry.ts';
import type { HeaderRules } from './audited-headers.ts';
import { elided, gatherTexts, redacted } from './redacted-value.ts';

/** How a device writes its lines; options of every device. */
export interface AuditFormat {
  /** Nothing is digested. */
  readonly raw: boolean;
  readonly hmacAccessor: boolean;
  /** Of lists only the number of keys is written. */
  readonly elideListResponses: boolean;
}

/** Reads `log_raw`, `hmac_accessor`, `elide_list_responses` and `format`. @throws BadRequest naming the option. */
export function auditFormat(options: Readonly<Record<string, string>>): AuditFormat {
  const format = options['format'] ?? 'json';
  if (format !== 'json') throw new BadRequest(`unknown format type ${JSON.stringify(format)}; must be "json"`);
  if ((options['prefix'] ?? '') !== '') throw new BadRequest('audit log prefixing is not allowed');
  return {
    raw: flag(options, 'log_raw', false),
    hmacAccessor: flag(options, 'hmac_accessor', true),
    elideListResponses: flag(options, 'elide_list_responses', false),
  };
}

function flag(options: Readonly<Record<string, string>>, name: string, fallback: boolean): boolean {
  const text = options[name] ?? '';
  if (text === '') return fallback;
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text)) return false;
  throw new BadRequest(`option ${name}: strconv.ParseBool: parsing ${JSON.stringify(text)}: invalid syntax`);
}

type Hash = (value: string) => string;

/** What the texts of an ordinary entry weigh at most: 256 short ones, or 256 KiB of long ones. */
const LIGHT = 262_144;
const noKeys: readonly string[] = [];
const namespace = { id: 'root' } as const;
/** These are digested whatever the rules say: they carry credentials. */
const alwaysDigested = new Set(['authorization', 'cookie', 'proxy-authorization', 'x-vault-mfa', 'x-vault-token']);

/** Builds the lines of one device: one JSON object each, keys in the order that readers of Vault's and OpenBao's logs know, empty values left out. */
export class AuditFormatter {
  readonly #digest: AuditDigest;
  readonly #format: AuditFormat;
  readonly #headers: HeaderRules;
  readonly #hash: (value: string) => string;
  readonly #hashToken: (value: string) => string;
  readonly #hashAccessor: (value: string) => string;

  constructor(salt: string, format: AuditFormat, headers: HeaderRules) {
    this.#digest = new AuditDigest(salt);
    this.#format = format;
    this.#headers = headers;
    const plain = (value: string): string => value;
    this.#hash = format.raw ? plain : (value) => this.#digest.of(value);
    this.#hashToken = format.raw ? plain : (value) => this.#digest.ofToken(value);
    this.#hashAccessor = format.hmacAccessor ? this.#hashToken : plain;
  }

  /** The digest by which a value is found in this device's lines, whether or not the device writes raw. */
  digest(value: string): string {
    return this.#digest.of(value);
  }

  /** The digests of an entry with many or long texts, made in turns for `line`; undefined for ordinary entries, which are written at once. */
  digestsFor({ request, response }: AuditEntry, breath: () => Promise<void>): Promise<ReadonlyMap<string, string>> | undefined {
    if (this.#format.raw) return undefined;
    const data = [request.data, response?.data];
    if (gatherTexts(data, [], LIGHT)) return undefined;
    const texts: string[] = [];
    gatherTexts(data, texts);
    return this.#digest.ofAll(texts, breath);
  }

  /** Without the newline. `digests`: those that were made before. */
  line(entry: AuditEntry, at: Date, digests?: ReadonlyMap<string, string>): string {
    const { response } = entry;
    const hash = digests ? (value: string): string => digests.get(value) ?? this.#hash(value) : this.#hash;
    const request = writeJson(this.#request(entry.request, hash));
    const auth = JSON.stringify(this.#auth(entry.auth));
    const head = `{"time":"${timestamp(at)}","type":"${response ? 'response' : 'request'}","auth":${auth},"request":${request}`;
    const answer = response ? `,"response":${writeJson(this.#response(entry.request, response, hash))}` : '';
    const error = entry.error ? `,"error":${JSON.stringify(entry.error)}` : '';
    return `${head}${answer}${error}}`;
  }

  #auth({ identity, allowed, grantingPolicies }: AuditedAuth): object {
    return {
      client_token: text(identity?.token, this.#hashToken),
      accessor: text(identity?.accessor, this.#hashAccessor),
      display_name: some(identity?.displayName),
      policies: identity && filled(allPolicies(identity)),
      token_policies: filled(identity?.tokenPolicies),
      identity_policies: filled(identity?.identityPolicies),
      no_default_policy: identity?.noDefaultPolicy || undefined,
      policy_results:
        allowed === undefined
          ? undefined
          : {
              allowed,
              granting_policies: filled(grantingPolicies?.map((name) => ({ name, namespace_id: namespace.id, type: 'acl' }))),
            },
      metadata: this.#metadata(identity?.metadata),
      num_uses: identity?.numUses || undefined,
      remaining_uses: identity?.remainingUses || undefined,
      entity_id: some(identity?.entityId),
      token_type: identity?.type ?? 'default',
      token_ttl: identity?.ttl || undefined,
      token_issue_time: identity && timestamp(new Date(identity.issuedAt)),
    };
  }

  /** Tokens of an OpenID provider, where a role asks for them, are the only secrets that metadata has. */
  #metadata(metadata: Readonly<Record<string, string>> | undefined): object | undefined {
    const shown = filledObject(metadata) as Readonly<Record<string, string>> | undefined;
    if (!shown || !Object.keys(shown).some(isProviderToken)) return shown;
    return Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, isProviderToken(name) ? this.#hash(value) : value]));
  }

  #request(request: AuditedRequest, hash: Hash): object {
    const { mount } = request;
    return {
      id: some(request.id),
      client_id: some(request.clientId),
      operation: request.operation,
      ...mountKeys(mount, 'mount_running_version'),
      client_token: text(request.token, this.#hashToken),
      client_token_accessor: text(request.accessor, this.#hashAccessor),
      namespace,
      path: request.path,
      data: filledObject(request.data) && redacted(request.data, hash, mount?.readableRequestKeys ?? noKeys),
      policy_override: request.policyOverride || undefined,
      remote_address: some(request.remoteAddress),
      remote_port: request.remotePort || undefined,
      wrap_ttl: request.wrapTtl || undefined,
      headers: this.#headers.size === 0 ? undefined : this.#requestHeaders(request),
      client_certificate_serial_number: some(request.certificateSerialNumber),
    };
  }

  #requestHeaders({ headers }: AuditedRequest): object | undefined {
    const written: Record<string, string[]> = {};
    for (const [name, sent] of Object.entries(headers ?? {})) {
      const key = name.toLowerCase();
      const rule = this.#headers.get(key);
      if (!rule || sent === undefined) continue;
      const values = typeof sent === 'string' ? [sent] : [...sent];
      written[key] = rule.hmac || alwaysDigested.has(key) ? values.map(this.#hash) : values;
    }
    return filledObject(written);
  }

  #response(request: AuditedRequest, response: AuditedResponse, hash: Hash): object {
    const { auth, leaseId, warnings, wrapInfo, headers } = response;
    return {
      auth: auth
        ? {
            client_token: text(auth.client_token, this.#hashToken),
            accessor: text(auth.accessor, this.#hashAccessor),
            display_name: some(auth.display_name),
            policies: filled(auth.policies),
            token_policies: filled(auth.token_policies),
            identity_policies: filled(auth.identity_policies),
            metadata: this.#metadata(auth.metadata ?? undefined),
            num_uses: auth.num_uses || undefined,
            entity_id: some(auth.entity_id),
            token_type: auth.token_type,
            token_ttl: auth.lease_duration || undefined,
          }
        : undefined,
      ...mountKeys(request.mount, 'mount_running_plugin_version'),
      secret: leaseId ? { lease_id: leaseId } : undefined,
      data: this.#responseData(request, response, hash),
      warnings: filled(warnings ?? undefined),
      wrap_info: wrapInfo ? this.#wrapInfo(wrapInfo) : undefined,
      headers: filledObject(headers),
    };
  }

  #responseData(request: AuditedRequest, { data, refusal, raw }: AuditedResponse, hash: Hash): unknown {
    if (raw) {
      const body = typeof raw.body === 'string' ? raw.body : Buffer.from(raw.body).toString('utf8');
      return { http_content_type: raw.contentType, http_raw_body: this.#hash(body) };
    }
    const listing = request.operation === 'list' || request.operation === 'scan';
    const shown = listing && this.#format.elideListResponses ? elided(data) : data;
    const readable = request.mount?.readableResponseKeys ?? noKeys;
    const values = shown === undefined || shown === null || isEmptyObject(shown) ? undefined : redacted(shown, hash, readable);
    return refusal ? { error: this.#hash(refusal), ...(values as object | undefined) } : values;
  }

  #wrapInfo(info: WrapInfo): object {
    return {
      ttl: info.ttl,
      token: this.#hash(info.token),
      accessor: this.#hashAccessor(info.accessor),
      creation_time: info.creation_time,
      creation_path: info.creation_path,
      wrapped_accessor: text(info.wrapped_accessor, this.#hashAccessor),
    };
  }
}

function mountKeys(mount: AuditedMount | undefined, versionKey: string): object | undefined {
  return (
    mount && {
      mount_point: mount.point,
      mount_type: mount.type,
      mount_accessor: some(mount.accessor),
      [versionKey]: some(mount.version),
      mount_class: some(mount.class),
    }
  );
}

function allPolicies(identity: CallerIdentity): readonly string[] {
  if (identity.identityPolicies.length === 0) return identity.tokenPolicies;
  return [...new Set([...identity.tokenPolicies, ...identity.identityPolicies])].sort();
}

/** RFC 3339 in UTC, the fraction without closing zeros. */
function timestamp(at: Date): string {
  const iso = at.toISOString();
  if (!iso.endsWith('0Z')) return iso;
  return iso.replace(/\.?0+Z$/, 'Z');
}

function text(value: string | undefined, hash: (value: string) => string): string | undefined {
  return value ? hash(value) : undefined;
}

function some(value: string | undefined): string | undefined {
  return value === '' ? undefined : value;
}

function filled<T>(list: readonly T[] | undefined): readonly T[] | undefined {
  return list && list.length > 0 ? list : undefined;
}

function filledObject<T extends object>(value: T | undefined): T | undefined {
  return value && !isEmptyObject(value) ? value : undefined;
}

function isEmptyObject(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  for (const key in value) if (Object.hasOwn(value, key)) return false;
  return Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null;
}

function isProviderToken(name: string): boolean {
  return name.startsWith('oauth2_');
}
