import { randomBytes } from 'node:crypto';
import { silentLog, systemClock, type Plugin } from '@strongroom/engine-sdk';
import { ConfigurationInvalid } from '../config/complaints.ts';
import type { Configuration, SealChoice } from '../config/configuration.ts';
import { configuredSeals } from '../plugins/configured-seals.ts';
import { Findings, type Finding } from './finding.ts';

/** Milliseconds in which a seal must answer. */
const PATIENCE = 30_000;

/** Whether the key of each seal can be had now, and wraps and unwraps. */
export async function checkSeals({ seals }: Pick<Configuration, 'seals'>, plugins: readonly Plugin[]): Promise<Finding[]> {
  if (seals.every(({ disabled }) => disabled)) {
    const found = new Findings('seal shamir');
    found.ok('operators unseal the server with their shares after each start');
    return found.all;
  }
  const all: Finding[] = [];
  for (const seal of seals) all.push(...(await checkSeal(seal, plugins)));
  return all;
}

async function checkSeal(choice: SealChoice, plugins: readonly Plugin[]): Promise<Finding[]> {
  const found = new Findings(`seal ${choice.name ?? choice.type}`);
  try {
    const [seal] = await configuredSeals([choice], { plugins, clock: systemClock, log: silentLog });
    const session = await seal!.open();
    try {
      const [plain, aad] = [randomBytes(32), randomBytes(16)];
      const signal = AbortSignal.timeout(PATIENCE);
      const wrapped = await session.wrap({ plain, aad, signal });
      if (Buffer.from(await session.unwrap({ ...wrapped, aad, signal })).equals(plain)) found.ok('its key wraps and unwraps');
      else found.failure('its key does not unwrap what it wrapped', 'Check the service');
    } finally {
      await session.close();
    }
  } catch (error) {
    const text = error instanceof ConfigurationInvalid ? error.complaints.join('; ') : (error as Error).message;
    found.failure(`its key cannot be used: ${text}`, 'The server would start and stay sealed until it can');
  }
  return found.all;
}
