import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { crc32c } from '@aws-crypto/crc32c';
import * as grpc from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { SealFailure } from '@strongroom/seal-sdk';

interface KmsRequest {
  readonly name: string;
  readonly plaintext: Buffer;
  readonly ciphertext: Buffer;
  readonly additionalAuthenticatedData: Buffer;
  readonly plaintextCrc32c?: { readonly value: string };
  readonly ciphertextCrc32c?: { readonly value: string };
}
type Handler = grpc.handleUnaryCall<KmsRequest, unknown>;

/** The part of Cloud KMS that seals use, by Google's own protos. */
export async function startKms(keys: readonly string[]) {
  const versions = new Map(keys.map((name) => [name, [randomBytes(32)]]));
  let failure: SealFailure | undefined;

  const refused = (): { code: grpc.status; details: string } | undefined => {
    if (failure === 'away') return { code: grpc.status.UNAVAILABLE, details: 'The service is currently unavailable.' };
    if (failure === 'permission')
      return { code: grpc.status.PERMISSION_DENIED, details: "Permission 'cloudkms.cryptoKeyVersions.useToEncrypt' denied" };
    return failure && { code: grpc.status.RESOURCE_EXHAUSTED, details: 'Quota exceeded for quota metric' };
  };
  const answering =
    (answer: (request: KmsRequest, known: Buffer[]) => object): Handler =>
    (call, done) => {
      const known = versions.get(call.request.name);
      const error =
        refused() ?? (known ? undefined : { code: grpc.status.NOT_FOUND, details: `CryptoKey ${call.request.name} not found.` });
      if (error) return done(error);
      try {
        done(null, answer(call.request, known!));
      } catch {
        done({ code: grpc.status.INVALID_ARGUMENT, details: 'Decryption failed: the ciphertext is invalid.' });
      }
    };

  const handlers: Record<string, Handler> = {
    Encrypt: answering(({ name, plaintext, plaintextCrc32c, additionalAuthenticatedData: aad }, known) => {
      const nonce = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', known.at(-1)!, nonce).setAAD(aad);
      const ciphertext = Buffer.concat([Buffer.of(known.length), nonce, cipher.update(plaintext), cipher.final(), cipher.getAuthTag()]);
      return {
        name: `${name}/cryptoKeyVersions/${known.length}`,
        ciphertext,
        ciphertextCrc32c: { value: crc32c(ciphertext) },
        verifiedPlaintextCrc32c: Number(plaintextCrc32c?.value) === crc32c(plaintext),
      };
    }),
    Decrypt: answering(({ ciphertext, additionalAuthenticatedData: aad }, known) => {
      const cipher = createDecipheriv('aes-256-gcm', known[ciphertext[0]! - 1]!, ciphertext.subarray(1, 13)).setAAD(aad);
      cipher.setAuthTag(ciphertext.subarray(-16));
      const plaintext = Buffer.concat([cipher.update(ciphertext.subarray(13, -16)), cipher.final()]);
      return { plaintext, plaintextCrc32c: { value: crc32c(plaintext) } };
    }),
  };

  const require = createRequire(import.meta.url);
  // Each package has its protos beside its code, `build/src/index.js`.
  const protos = (name: string): string => join(dirname(require.resolve(name)), '..', 'protos');
  const definition = loadSync('google/cloud/kms/v1/service.proto', {
    includeDirs: [protos('@google-cloud/kms'), protos('google-gax')],
    longs: String,
    defaults: true,
  });
  const service = definition['google.cloud.kms.v1.KeyManagementService'] as grpc.ServiceDefinition;
  const server = new grpc.Server();
  server.addService(service, handlers as unknown as grpc.UntypedServiceImplementation);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  return {
    endpoint: { host: '127.0.0.1', port },
    rotate: (name: string) => void versions.get(name)!.push(randomBytes(32)),
    fail: (how: SealFailure | undefined) => {
      failure = how;
    },
    stop: () => server.forceShutdown(),
  };
}
