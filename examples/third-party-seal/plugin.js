import {
  openEnvelope,
  SealCalls,
  SealPermissionDenied,
  SealThrottled,
  SealUnavailable,
  SealWrongKey,
  sealEnvelope,
  setting,
} from '@strongroom/seal-sdk';

const SETTINGS = {
  address: setting.text('URL of the key box.', { required: true, env: ['KEYBOX_ADDR'] }),
  token: setting.secret('The credential that the key box asks for.', { required: true, env: ['KEYBOX_TOKEN'] }),
};

/** @type {import('@strongroom/seal-sdk').SealPlugin<typeof SETTINGS>} */
export const keyboxSeal = {
  kind: 'seal',
  name: 'keybox',
  title: 'key box',
  apiVersion: 2,
  version: '0.1.0',
  code: [new URL('.', import.meta.url).href],
  settings: SETTINGS,
  check: ({ address }) => (/^https?:\/\/[^/]/.test(address) ? [] : ['address must be a URL such as "https://keybox.example"']),
  open: async ({ address, token }) => {
    const calls = new SealCalls((error) => new SealUnavailable(`the key box cannot be reached: ${String(error)}`, { cause: error }), {
      token,
    });

    /** @param {string} path @param {object} body @param {AbortSignal} signal */
    const ask = async (path, body, signal) => {
      const request = { method: 'POST', headers: { authorization: token }, body: JSON.stringify(body), signal };
      const response = await fetch(new URL(path, address), request);
      if (!response.ok) throw failure(response.status);
      return /** @type {{ data: string, version: string }} */ (await response.json());
    };

    return {
      wrap: ({ plain, aad, signal }) =>
        calls.run(signal, async () => {
          let keyId = '';
          const blob = await sealEnvelope(plain, aad, async (key) => {
            const { data, version } = await ask('/encrypt', { data: Buffer.from(key).toString('base64') }, signal);
            keyId = version;
            return Buffer.from(data, 'base64');
          });
          return { blob, keyId };
        }),
      unwrap: ({ blob, aad, signal }) =>
        calls.run(signal, () =>
          openEnvelope(blob, aad, async (wrapped) => {
            const { data } = await ask('/decrypt', { data: Buffer.from(wrapped).toString('base64') }, signal);
            return Buffer.from(data, 'base64');
          }),
        ),
      keyId: ({ signal }) => calls.run(signal, async () => (await ask('/version', {}, signal)).version),
      close: async () => {
        calls.close();
      },
    };
  },
};

/** @param {number} status */
function failure(status) {
  if (status === 400) return new SealWrongKey('the key box does not open this blob');
  if (status === 403) return new SealPermissionDenied('the key box refuses the token', { serviceCode: '403' });
  if (status === 429) return new SealThrottled('the key box asks for a pause', { serviceCode: '429' });
  return new SealUnavailable(`the key box answered ${status}`, { serviceCode: String(status) });
}
