import { toPlain, type HclPlain } from '@strongroom/hcl';
import { isSecretName, redactText, MASK } from '../log/redaction.ts';
import type { Sourced } from './section.ts';

/** Blocks of which only the type is shown: whatever else stands there may open something. */
const TYPE_ONLY = new Set(['storage', 'backend', 'ha_storage', 'ha_backend', 'seal', 'audit', 'telemetry', 'service_registration']);

/** The configuration as its files say it, for `sys/config/state/sanitized`. */
export function sanitizedConfiguration(items: readonly Sourced[]): Record<string, unknown> {
  const shown: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(toPlain(items.map(({ item }) => item)))) {
    if (!TYPE_ONLY.has(key)) shown[key] = isSecretName(key) ? MASK : masked(value);
  }
  for (const { item } of items) if (TYPE_ONLY.has(item.key) && item.labels.length > 0) shown[item.key] = { type: item.labels[0] };
  return shown;
}

function masked(value: HclPlain): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, isSecretName(key) ? MASK : masked(inner)]));
}
