import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { syncDestinationContract } from '@strongroom/sync-testkit';
import { shelfDestination } from './shelf-destination.ts';
import { ShelfServer } from './shelf-server.ts';

const server = new ShelfServer();
beforeAll(async () => server.start());
afterAll(async () => server.stop());

syncDestinationContract(
  { describe, test },
  {
    plugin: shelfDestination,
    config: () => server.connection,
    outside: server,
    wrongCredentials: (good) => ({ ...good, access_token: 'a-token-that-nobody-has' }),
    unreachable: (good) => ({ ...good, endpoint: 'http://127.0.0.1:1' }),
    malformed: (good) => ({ ...good, shelf: 'Top Shelf' }),
  },
);
