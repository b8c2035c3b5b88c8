import { API_VERSION, type EnginePackage } from '@strongroom/engine-sdk';
import { codePath } from './path-code.ts';
import { keyPaths } from './path-keys.ts';

/** One-time codes by time: a key makes codes, or checks those of an authenticator. */
export const totpEngine: EnginePackage = {
  name: 'totp',
  kind: 'secret',
  apiVersion: API_VERSION,
  version: '0.1.0',
  create: (host) => ({ paths: [...keyPaths(host), codePath(host)] }),
};
