import { afterAll, describe, jest, test } from '@jest/globals';
import { type GoogleServer, startGoogleServer, syncDestinationContract } from '@strongroom/sync-testkit';
import { createGcpSmDestination } from '../src/index.ts';
import { gcpOutside } from './gcp-outside.ts';
import { connectionOf } from './open-session.ts';

// A busy machine takes its time for many calls.
jest.setTimeout(60_000);

const server: GoogleServer = await startGoogleServer({ pageSize: 10 });
const endpoint = { host: server.host, port: server.port };

describe('Google Cloud Secret Manager', () => {
  afterAll(() => server.stop());

  syncDestinationContract(
    { describe, test },
    {
      plugin: createGcpSmDestination({ endpoint, ca: server.ca, authority: server.authority.url }),
      ca: server.ca,
      config: () => {
        endpoint.port = server.port;
        return connectionOf({ credentials: JSON.stringify(server.account), project_id: server.projectId });
      },
      outside: gcpOutside(() => server),
      wrongCredentials: (good) => {
        const { private_key } = server.accounts.create('somebody');
        return { ...good, credentials: JSON.stringify({ ...server.account, private_key }) };
      },
      // Where Secret Manager is, is the operator's to say, and not the destination's.
      unreachable: (good) => {
        endpoint.port = 1;
        return good;
      },
      malformed: (good) => ({ ...good, credentials: '{"type":"external_account"}' }),
      listed: 25,
    },
  );
});
