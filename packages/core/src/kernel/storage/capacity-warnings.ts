import type { StorageDriver } from '@strongroom/storage-sdk';

/** From here on an operator should make room. */
const MUCH = 0.8;

/** What an operator should know of a store that has a limit of its own. */
export function capacityWarnings(driver: Pick<StorageDriver, 'name' | 'capacity'>): string[] {
  const capacity = driver.capacity?.();
  if (!capacity) return [];
  const { usedBytes, limitBytes, alarms } = capacity;
  const warnings = alarms.map((alarm) => `the storage ${driver.name} has raised the alarm ${alarm}: it may refuse writes`);
  if (usedBytes > MUCH * limitBytes)
    warnings.push(`the storage ${driver.name} uses ${Math.round((100 * usedBytes) / limitBytes)} % of its quota`);
  return warnings;
}
