import { createCore, type Core } from '@strongroom/core';
import { coreRouter } from '@strongroom/http';
import { lmdbStorage } from '@strongroom/storage-lmdb';
import express, { type Express } from 'express';
import { doorEngine } from './door-engine.ts';
import type { Doors } from './doors.ts';

export interface AppSettings {
  readonly doors: Doors;
  /** Where the secrets are kept, encrypted. */
  readonly folder: string;
  /** 32 bytes that open the store. */
  readonly key: Uint8Array;
  /** Told once, when the store is new. */
  readonly onRootToken: (token: string) => void;
}

/** The app as it was, with the secrets API below `/secrets/v1`. Close the core when the app stops. */
export async function createApp({ doors, folder, key, onRootToken }: AppSettings): Promise<{ app: Express; core: Core }> {
  const app = express();
  app.post('/doors/:door/open', express.json(), (request, response) => {
    const { code } = (request.body ?? {}) as { code?: unknown };
    response.sendStatus(typeof code === 'string' && doors.opens(request.params.door ?? '', code) ? 204 : 403);
  });

  // embedding begins
  const core = await createCore({
    storage: await lmdbStorage({ path: folder }),
    plugins: [doorEngine(doors)],
    seal: { type: 'static', key },
  });
  const shares = { secretShares: undefined, secretThreshold: undefined, recoveryShares: 1, recoveryThreshold: 1 };
  if (!(await core.initialized())) onRootToken((await core.initialize(shares)).rootToken);
  app.use('/secrets/v1', coreRouter(core));
  // embedding ends

  return { app, core };
}
