import type { CommandGroup } from '../command.ts';
import { diagnose } from './operator-diagnose.ts';
import { generateRoot } from './operator-generate-root.ts';
import { importServer } from './operator-import.ts';
import { init } from './operator-init.ts';
import { keyStatus, members, rotate } from './operator-keys.ts';
import { migrate } from './operator-migrate.ts';
import { rekey } from './operator-rekey.ts';
import { seal, stepDown, unseal } from './operator-seal.ts';
import { raft, snapshot } from './operator-snapshot.ts';

const operator: CommandGroup = {
  name: 'operator',
  synopsis: 'Perform tasks of an operator',
  description: 'Initializes, seals and unseals servers, and changes their keys.',
  subcommands: [
    init,
    unseal,
    seal,
    stepDown,
    rotate,
    keyStatus,
    rekey,
    generateRoot,
    members,
    diagnose,
    importServer,
    snapshot,
    raft,
    migrate,
  ],
};
export default operator;
