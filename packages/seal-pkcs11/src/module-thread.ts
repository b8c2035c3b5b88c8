import type * as Pkcs11 from 'pkcs11js';
import type { MessagePort } from 'node:worker_threads';

/** What the thread is started with. */
export interface ThreadOrder {
  /** Path of pkcs11js. */
  readonly binding: string;
  readonly lib: string;
  readonly slot: string | undefined;
  readonly tokenLabel: string | undefined;
  readonly pin: string;
}

/** Which key of the token. */
export interface KeyReference {
  readonly label?: string;
  /** Hexadecimal. */
  readonly id?: string;
}

/** One call. `data` is a key of 32 bytes, or what the module made of it. */
export type ThreadCall =
  | { readonly id: number; readonly does: 'find'; readonly key: KeyReference; readonly secret: boolean }
  | {
      readonly id: number;
      readonly does: 'encrypt' | 'decrypt';
      readonly key: KeyReference;
      readonly data: Uint8Array;
      readonly iv: Uint8Array;
    }
  | { readonly id: number; readonly does: 'public'; readonly key: KeyReference }
  | { readonly id: number; readonly does: 'unwrap'; readonly key: KeyReference; readonly data: Uint8Array; readonly hash: string }
  | { readonly id: number; readonly does: 'close' };

/** What a call resolved to, or the name of the return value that it failed with. */
export interface ThreadReply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
}

/**
 * Runs in a thread of its own, from its source: calls of PKCS #11 block. So it uses nothing but what it gets. A PIN that the module refuses is not tried
 * again: modules lock a user after a few wrong ones.
 */
export function runModuleThread(load: (name: string) => unknown): void {
  const { parentPort, workerData } = load('node:worker_threads') as { parentPort: MessagePort; workerData: ThreadOrder };
  const js = load(workerData.binding) as typeof Pkcs11;
  const api = new js.PKCS11();
  let session: Pkcs11.Handle | undefined;
  let loaded = false;
  let refused: Error | undefined;

  const named = (name: string, message: string): Error => Object.assign(new Error(message), { name });
  const nameOf = (error: unknown): string => {
    const { message = '', name = '' } = error as Error;
    return /CKR_\w+/.exec(message)?.[0] ?? (name === 'Error' ? '' : name);
  };
  const tolerating = (name: string, work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (nameOf(error) !== name) throw error;
    }
  };

  const slotOf = (): Pkcs11.Handle => {
    const slots = api.C_GetSlotList(true);
    const { slot, tokenLabel } = workerData;
    const found = slots.find((each) =>
      slot === undefined ? api.C_GetTokenInfo(each).label.replace(/[\s\0]+$/, '') === tokenLabel : String(each.readUInt32LE(0)) === slot,
    );
    if (!found)
      throw named('CKR_TOKEN_NOT_PRESENT', slot === undefined ? `there is no token "${tokenLabel}"` : `slot ${slot} has no token`);
    return found;
  };

  const open = (): Pkcs11.Handle => {
    if (session) return session;
    if (refused) throw refused;
    if (!loaded) {
      api.load(workerData.lib);
      tolerating('CKR_CRYPTOKI_ALREADY_INITIALIZED', () => api.C_Initialize());
      loaded = true;
    }
    const opened = api.C_OpenSession(slotOf(), js.CKF_SERIAL_SESSION | js.CKF_RW_SESSION);
    try {
      tolerating('CKR_USER_ALREADY_LOGGED_IN', () => api.C_Login(opened, js.CKU_USER, workerData.pin));
    } catch (error) {
      api.C_CloseSession(opened);
      if (nameOf(error).startsWith('CKR_PIN')) refused = error as Error;
      throw error;
    }
    session = opened;
    return session;
  };

  const find = (at: Pkcs11.Handle, { label, id }: KeyReference, kind: number): Pkcs11.Handle => {
    api.C_FindObjectsInit(at, [
      { type: js.CKA_CLASS, value: kind },
      ...(label === undefined ? [] : [{ type: js.CKA_LABEL, value: label }]),
      ...(id === undefined ? [] : [{ type: js.CKA_ID, value: Buffer.from(id, 'hex') }]),
    ]);
    const found = api.C_FindObjects(at, 2);
    api.C_FindObjectsFinal(at);
    if (found.length > 1) throw named('KeyAmbiguous', 'several keys of the token have this label: give key_id as well');
    if (found.length === 0) throw named('KeyMissing', 'the token has no such key');
    return found[0]!;
  };

  const gcm = (iv: Uint8Array): Pkcs11.Mechanism => ({
    mechanism: js.CKM_AES_GCM,
    parameter: { type: js.CK_PARAMS_AES_GCM, iv: Buffer.from(iv), ivBits: 96, tagBits: 128 } as Pkcs11.AesGCM,
  });
  const oaep = (hash: string): Pkcs11.Mechanism => {
    const hashes: Record<string, readonly [number, number]> = {
      sha1: [js.CKM_SHA_1, js.CKG_MGF1_SHA1],
      sha224: [js.CKM_SHA224, js.CKG_MGF1_SHA224],
      sha256: [js.CKM_SHA256, js.CKG_MGF1_SHA256],
      sha384: [js.CKM_SHA384, js.CKG_MGF1_SHA384],
      sha512: [js.CKM_SHA512, js.CKG_MGF1_SHA512],
    };
    const [hashAlg, mgf] = hashes[hash]!;
    const parameter = { type: js.CK_PARAMS_RSA_OAEP, hashAlg, mgf, source: 1, sourceData: null } as unknown as Pkcs11.RsaOAEP;
    return { mechanism: js.CKM_RSA_PKCS_OAEP, parameter };
  };

  const answer = (call: ThreadCall): unknown => {
    if (call.does === 'close') {
      if (session) api.C_CloseSession(session);
      session = undefined;
      return undefined;
    }
    const at = open();
    if (call.does === 'find') {
      const key = find(at, call.key, call.secret ? js.CKO_SECRET_KEY : js.CKO_PRIVATE_KEY);
      const [label, id] = api.C_GetAttributeValue(at, key, [{ type: js.CKA_LABEL }, { type: js.CKA_ID }]);
      return { label: (label!.value as Buffer).toString(), id: (id!.value as Buffer).toString('hex') };
    }
    if (call.does === 'public') {
      const key = find(at, call.key, js.CKO_PUBLIC_KEY);
      const [modulus, exponent] = api.C_GetAttributeValue(at, key, [{ type: js.CKA_MODULUS }, { type: js.CKA_PUBLIC_EXPONENT }]);
      return { n: (modulus!.value as Buffer).toString('base64url'), e: (exponent!.value as Buffer).toString('base64url') };
    }
    const room = Buffer.alloc(1_024);
    if (call.does === 'unwrap') {
      api.C_DecryptInit(at, oaep(call.hash), find(at, call.key, js.CKO_PRIVATE_KEY));
      return api.C_Decrypt(at, Buffer.from(call.data), room);
    }
    const key = find(at, call.key, js.CKO_SECRET_KEY);
    if (call.does === 'encrypt') {
      api.C_EncryptInit(at, gcm(call.iv), key);
      return api.C_Encrypt(at, Buffer.from(call.data), room);
    }
    api.C_DecryptInit(at, gcm(call.iv), key);
    return api.C_Decrypt(at, Buffer.from(call.data), room);
  };

  parentPort.on('message', (call: ThreadCall) => {
    try {
      parentPort.postMessage({ id: call.id, result: answer(call) } satisfies ThreadReply);
    } catch (error) {
      const name = nameOf(error);
      // The next call opens another session: this one may be lost, or in the middle of an operation.
      if (/^CKR_(SESSION|DEVICE|TOKEN|SLOT|USER_NOT|OPERATION|GENERAL|FUNCTION_FAILED|CRYPTOKI_NOT)/.test(name)) session = undefined;
      parentPort.postMessage({ id: call.id, error: { name, message: (error as Error).message } } satisfies ThreadReply);
    }
  });
}
