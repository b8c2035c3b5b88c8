import { describe, test } from '@jest/globals';
import { engineContract } from '@strongroom/engine-testkit';
import { doorEngine } from '../src/door-engine.ts';
import { Doors } from '../src/doors.ts';

engineContract(
  { describe, test },
  {
    engine: doorEngine(new Doors(['front'])),
    prepare: async (mount) => {
      await mount.write('roles/visitor', { door: 'front', ttl: '10m' });
      await mount.read('codes/visitor');
      return { name: ['visitor'], role: ['visitor'] };
    },
    outside: ['codes/{role}'],
    readsWithEffect: ['codes/{role}'],
  },
);
