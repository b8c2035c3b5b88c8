import type { CountingDriver } from './counting-driver.ts';

/** From here on an operator should make room. */
const MUCH = 0.8;

/** What an operator should know of a store that refuses writes, or that has a limit of its own. */
export function storageWarnings(driver: Pick<CountingDriver, 'name' | 'capacity' | 'writeFailure'>): string[] {
  const { name, writeFailure } = driver;
  const warnings = writeFailure === undefined ? [] : [`the last write to the store failed: ${writeFailure}`];
  const capacity = driver.capacity();
  if (!capacity) return warnings;
  const { usedBytes, limitBytes, alarms } = capacity;
  for (const alarm of alarms) warnings.push(`the storage ${name} has raised the alarm ${alarm}: it may refuse writes`);
  if (usedBytes > MUCH * limitBytes) warnings.push(`the storage ${name} uses ${Math.round((100 * usedBytes) / limitBytes)} % of its quota`);
  return warnings;
}
