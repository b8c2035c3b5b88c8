import { API_VERSION, BadRequest, type EnginePackage } from '@strongroom/engine-sdk';
import type { Doors } from './doors.ts';
import { codeIntent } from './intent-code.ts';
import { codePath } from './path-codes.ts';
import { rolePaths } from './path-roles.ts';
import { codeSecret } from './secret-code.ts';

/** Codes for doors: whoever may read `codes/<role>` gets a code that opens the role's door until its lease ends. */
export function doorEngine(doors: Doors): EnginePackage {
  return {
    name: 'door',
    kind: 'secret',
    apiVersion: API_VERSION,
    version: '0.1.0',
    checkOptions: (options) => void codeLength(options),
    create: (host) => {
      const secret = codeSecret(doors);
      const intent = codeIntent(doors);
      return {
        paths: [...rolePaths(), codePath({ doors, host, secret, intent, length: codeLength(host.mount.options) })],
        secrets: [secret],
        intents: [intent],
      };
    },
  };
}

/** The mount option `code_length`: characters of a code, 10 by default. @throws BadRequest */
function codeLength(options: Readonly<Record<string, string>>): number {
  const length = Number(options['code_length'] ?? 10);
  if (!Number.isInteger(length) || length < 6 || length > 32) throw new BadRequest('code_length must be a whole number from 6 to 32');
  return length;
}
