import { describe, test } from '@jest/globals';
import { engineContract } from '@strongroom/engine-testkit';
import { makeCertificate, makeRevocationList } from '@strongroom/lab';
import { certAuth } from '../src/index.ts';

const ca = makeCertificate({ subject: 'CN=ca', authority: true });
const list = makeRevocationList(ca, { revoked: [7n], thisUpdate: new Date('2029-01-01'), nextUpdate: new Date('2049-01-01') });

engineContract(
  { describe, test },
  {
    engine: certAuth,
    prepare: async (mount) => {
      await mount.write('config', { ocsp_cache_size: 10 });
      await mount.write('certs/web', { certificate: ca.pem, token_policies: 'web' });
      await mount.write('crls/web', { crl: list.toString('base64') });
      return { name: ['web'] };
    },
  },
);
