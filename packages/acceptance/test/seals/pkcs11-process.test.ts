import { renameSync } from 'node:fs';
import { test } from '@jest/globals';
import { describeWhere } from '@strongroom/lab';
import { LIB, PIN, softHsmMissing, startSoftHsm } from '../../../seal-pkcs11/test/soft-hsm.ts';
import { walkUnderSeal } from './seal-walk.ts';

describeWhere(softHsmMissing(), 'SoftHSM', () => {
  test('a server lives under a seal of the type pkcs11', async () => {
    const hsm = await startSoftHsm();
    hsm.aes('strongroom', '01');
    try {
      await walkUnderSeal({
        type: 'pkcs11',
        block: { lib: LIB!, token_label: 'strongroom', pin: PIN, key_label: 'strongroom' },
        variables: { BAO_HSM_LIB: LIB!, BAO_HSM_TOKEN_LABEL: 'strongroom', BAO_HSM_PIN: PIN, BAO_HSM_KEY_LABEL: 'strongroom' },
        surroundings: { SOFTHSM2_CONF: hsm.conf },
        secrets: [`"${PIN}"`, `=${PIN}`],
        away: () => renameSync(hsm.tokens, `${hsm.tokens}-away`),
        back: () => renameSync(`${hsm.tokens}-away`, hsm.tokens),
      });
    } finally {
      hsm.stop();
    }
  }, 60_000);
});
