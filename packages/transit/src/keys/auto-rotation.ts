import type { AnySchedule, EngineHost, Schedule } from '@strongroom/engine-sdk';
import { versionId, versionRecords } from '../stored/records.ts';
import type { KeyStore } from './key-store.ts';
import { ROTATION, rotationDue } from './rotation-plan.ts';

/** Rotates keys that have `auto_rotate_period`. Of several servers on one store, one rotates. */
export function autoRotation(host: EngineHost, keys: KeyStore): AnySchedule {
  const schedule: Schedule<(typeof ROTATION)['entry']> = {
    ...ROTATION,
    about: async ({ name }) => ({ noun: 'key', name, path: `keys/${name}`, retry: `keys/${name}/rotate` }),
    run: async ({ name, id }, storage) => {
      const key = await keys.find(storage, name);
      if (key?.id !== id || key.auto_rotate_period === 0 || key.soft_deleted) return undefined;
      const latest = await versionRecords(storage).get(versionId(key, key.latest_version));
      const due = latest && rotationDue(latest.created, key.auto_rotate_period);
      // Somebody rotated it meanwhile, or this run follows one that died after its commit.
      if (due && due > host.clock.now()) return due;
      await keys.rotate(storage, name, key, true);
      return new Date(host.clock.millis() + key.auto_rotate_period * 1_000);
    },
  };
  return schedule as AnySchedule;
}
