import { toPlain, type HclPlain } from '@strongroom/hcl';
import { isSecretName, redactText, MASK } from '../log/redaction.ts';
import type { Sourced } from './section.ts';

/** Blocks of which only the type is shown: whatever else stands there may open something. */
const TYPE_ONLY = new Set(['ha_storage', 'ha_backend', 'audit', 'telemetry', 'tracing', 'service_registration']);
/** What clients of Vault and OpenBao read, where the configuration says nothing of it. */
const ABSENT = {
  api_addr: '',
  cluster_name: '',
  default_lease_ttl: 0,
  max_lease_ttl: 0,
  enable_ui: true,
  introspection_endpoint: false,
  log_format: '',
  log_level: '',
  pid_file: '',
  raw_storage_endpoint: false,
};

type Plain = Readonly<Record<string, HclPlain>>;

/** The configuration as its files say it, for `sys/config/state/sanitized`. */
export function sanitizedConfiguration(items: readonly Sourced[], defaults: { readonly storage: string }): Record<string, unknown> {
  const { listener, storage, backend, seal, ui, ...others } = toPlain(items.map(({ item }) => item));
  const shown: Record<string, unknown> = { ...ABSENT };
  for (const [key, value] of Object.entries(others)) {
    if (TYPE_ONLY.has(key)) shown[key] = { type: blocksOf(value)[0]?.type ?? '' };
    else shown[key] = isSecretName(key) ? MASK : masked(value);
  }
  if (ui !== undefined) shown['enable_ui'] = ui;
  const seals = blocksOf(seal).map(({ type, body }) => ({ type, disabled: String(body['disabled'] ?? false) === 'true' }));
  return {
    ...shown,
    listeners: blocksOf(listener).map(({ type, body }) => ({ type, config: masked(body) })),
    storage: { type: blocksOf(storage ?? backend)[0]?.type ?? defaults.storage },
    seals: seals.some(({ disabled }) => !disabled) ? seals : [{ type: 'shamir', disabled: false }, ...seals],
  };
}

/** Blocks with one label, as HCL and as JSON have them. */
function blocksOf(value: HclPlain | undefined): { readonly type: string; readonly body: Plain }[] {
  if (Array.isArray(value)) return value.flatMap(blocksOf);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([type, bodies]) =>
    (Array.isArray(bodies) ? bodies : [bodies]).map((body) => ({ type, body: isPlain(body) ? body : {} })),
  );
}

function isPlain(value: HclPlain): value is { [key: string]: HclPlain } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function masked(value: HclPlain | Plain): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, isSecretName(key) ? MASK : masked(inner)]));
}
