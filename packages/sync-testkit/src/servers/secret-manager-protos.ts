import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { status } from '@grpc/grpc-js';
import * as protoLoader from '@grpc/proto-loader';
import type { GrpcRefusal } from './secret-manager-store.ts';

const SERVICE = 'google.cloud.secretmanager.v1.SecretManagerService';

/** A message as the proto loader gives it: camelCase, enums as names, bytes as buffers. */
export type Message = Record<string, unknown>;

/** What is spoken on the wire, from the protos inside the official client. */
export interface Wire {
  readonly service: protoLoader.ServiceDefinition;
  /** `grpc-status-details-bin`: a google.rpc.Status with what Google's services put into it. */
  details(refusal: GrpcRefusal, requestId: string, retryAfter: number | undefined): Buffer;
}

export function loadProtos(): Wire {
  const require = createRequire(import.meta.url);
  const client = dirname(require.resolve('@google-cloud/secret-manager/package.json'));
  const gax = join(dirname(createRequire(join(client, 'package.json')).resolve('google-gax')), '..', 'protos');
  const load = (file: string): protoLoader.PackageDefinition =>
    protoLoader.loadSync(file, {
      includeDirs: [join(client, 'build', 'protos'), gax],
      longs: String,
      enums: String,
      defaults: true,
      oneofs: true,
    });
  const definition = load('google/cloud/secretmanager/v1/service.proto')[SERVICE] as protoLoader.ServiceDefinition;
  const rpc = { ...load('google/rpc/status.proto'), ...load('google/rpc/error_details.proto') };
  const pack = (name: string, value: Message): Message => ({
    type_url: `type.googleapis.com/${name}`,
    value: (rpc[name] as protoLoader.MessageTypeDefinition<object, object>).serialize(value),
  });
  return {
    service: Object.fromEntries(Object.values(definition).map((method) => [method.originalName ?? '', method])),
    details: (refusal, requestId, retryAfter) => {
      const packed = [
        pack('google.rpc.ErrorInfo', { reason: refusal.code, domain: 'secretmanager.googleapis.com', metadata: {} }),
        pack('google.rpc.RequestInfo', { requestId }),
        ...(retryAfter === undefined ? [] : [pack('google.rpc.RetryInfo', { retryDelay: { seconds: retryAfter, nanos: 0 } })]),
      ];
      const whole = rpc['google.rpc.Status'] as protoLoader.MessageTypeDefinition<object, object>;
      return whole.serialize({ code: status[refusal.code], message: refusal.message, details: packed });
    },
  };
}
