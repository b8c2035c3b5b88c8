import { randomInt, randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import {
  Metadata,
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  status,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import * as protoLoader from '@grpc/proto-loader';
import { crc32c } from './crc32c.ts';
import { CallLog, type Fault, type RecordedCall } from './faults.ts';
import { GoogleAccounts, renderGoogleRefusal, type ServiceAccountKey } from './google-accounts.ts';
import { type RunningServer, startHttpProvider } from './http-server.ts';
import {
  type GrpcCode,
  GrpcRefusal,
  type Replication,
  SecretManagerStore,
  type StoredSecret,
  type StoredVersion,
} from './secret-manager-store.ts';
import { createTestCa } from './test-ca.ts';

export type SecretManagerPermission =
  | 'secrets.create'
  | 'secrets.get'
  | 'secrets.list'
  | 'secrets.update'
  | 'secrets.delete'
  | 'versions.add'
  | 'versions.access'
  | 'versions.get'
  | 'versions.list'
  | 'versions.enable'
  | 'versions.disable'
  | 'versions.destroy';

export interface GoogleServerOptions {
  readonly projectId?: string;
  readonly now?: () => number;
  readonly pageSize?: number;
}

/** Secret Manager over gRPC on one address, and the token endpoints over HTTPS on another. */
export interface GoogleServer {
  readonly host: 'localhost';
  /** Of the gRPC server. */
  readonly port: number;
  /** Of the token endpoint and of IAM. */
  readonly authority: RunningServer;
  /** PEM of the authority that signed the certificates of both. */
  readonly ca: string;
  readonly projectId: string;
  readonly accounts: GoogleAccounts;
  /** An account that may use Secret Manager. */
  readonly account: ServiceAccountKey;
  readonly secrets: SecretManagerStore;
  readonly calls: readonly RecordedCall[];
  /** What the accounts may do, by their email; all of it where an account is not listed. */
  readonly permissions: Map<string, readonly SecretManagerPermission[]>;
  fail(fault: Fault): void;
  heal(): void;
  forget(): void;
  stop(): Promise<void>;
}

const SERVICE = 'google.cloud.secretmanager.v1.SecretManagerService';
const AUDIENCE = 'https://secretmanager.googleapis.com/';
const LARGEST_PAGE = 25_000;

/** A message as the proto loader gives it: camelCase, enums as names, bytes as buffers. */
type Message = Record<string, unknown>;

/** Plays Google Cloud Secret Manager from the protos inside its official client. State lives in memory. */
export async function startGoogleServer(options: GoogleServerOptions = {}): Promise<GoogleServer> {
  const now = options.now ?? Date.now;
  const projectId = options.projectId ?? 'test-project';
  const projectNumber = String(randomInt(100_000_000_000, 999_999_999_999));
  const ca = createTestCa();
  const certificate = ca.issue();
  const accounts = new GoogleAccounts(projectId, now);
  const authority = await startHttpProvider({
    tls: certificate,
    requestId: () => ['x-request-id', randomUUID()],
    refuse: renderGoogleRefusal,
    handle: (request) => accounts.handle(request) ?? { status: 404, body: { error: { code: 404, status: 'NOT_FOUND' } } },
  });
  const account = accounts.create('strongroom');
  const secrets = new SecretManagerStore(projectNumber, now);
  const permissions = new Map<string, readonly SecretManagerPermission[]>();
  const log = new CallLog();
  const wire = loadProtos();
  const service = new SecretManager(secrets, projectId, projectNumber, options.pageSize ?? LARGEST_PAGE);
  const lines = new Set<Socket>();

  const answer = (method: string, call: ServerUnaryCall<Message, Message>, done: sendUnaryData<Message>): void => {
    const requestId = randomUUID();
    const path = String(call.request['name'] || call.request['parent'] || (call.request['secret'] as Message | undefined)?.['name'] || '');
    const fault = log.take(`${method} ${path}`);
    const cut = (): void => {
      log.record({ method, path, status: 'dropped' });
      for (const line of lines) line.destroy();
    };
    if (fault?.drop === 'request') return cut();
    if (fault?.hang === true) {
      log.record({ method, path, status: 'hanging' });
      return;
    }
    try {
      if (fault !== undefined && fault.drop === undefined) {
        throw new GrpcRefusal((fault.status as GrpcCode | undefined) ?? 'INTERNAL', fault.message ?? 'The server was told to fail.');
      }
      const caller = accounts.authenticate(String(call.metadata.get('authorization')[0] ?? ''), AUDIENCE);
      if ('fault' in caller) {
        throw new GrpcRefusal('UNAUTHENTICATED', `Request had invalid authentication credentials: ${caller.fault}.`);
      }
      const rule = service.rules[method];
      if (rule === undefined) throw new GrpcRefusal('UNIMPLEMENTED', `${method} is not implemented.`);
      const [permission, work] = rule;
      const allowed = permissions.get(caller.email);
      if (allowed !== undefined && !allowed.includes(permission)) {
        throw new GrpcRefusal(
          'PERMISSION_DENIED',
          `Permission 'secretmanager.${permission}' denied for resource '${path}' (or it may not exist).`,
        );
      }
      const reply = work(call.request);
      if (fault?.drop === 'answer') return cut();
      log.record({ method, path, status: status.OK, requestId });
      done(null, reply);
    } catch (error) {
      const refusal =
        error instanceof GrpcRefusal ? error : new GrpcRefusal('INTERNAL', error instanceof Error ? error.message : String(error));
      log.record({ method, path, status: status[refusal.code], requestId });
      const metadata = new Metadata();
      metadata.set('grpc-status-details-bin', wire.details(refusal, requestId, fault?.retryAfter));
      done({ code: status[refusal.code], details: refusal.message, metadata });
    }
  };

  const server = new Server();
  const handlers = Object.keys(wire.service).map((method): [string, UntypedHandleCall] => [
    method,
    (call: ServerUnaryCall<Message, Message>, done: sendUnaryData<Message>) => answer(method, call, done),
  ]);
  server.addService(wire.service, Object.fromEntries(handlers));
  const credentials = ServerCredentials.createSsl(null, [
    { private_key: Buffer.from(certificate.key), cert_chain: Buffer.from(certificate.cert) },
  ]);
  const inner = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', credentials, (error, port) => (error === null ? resolve(port) : reject(error))),
  );
  // The calls come through plain sockets of ours, so that a connection can be cut in the middle of one.
  const door = createServer({ noDelay: true }, (socket) => {
    const through = connect({ port: inner, host: '127.0.0.1', noDelay: true });
    lines.add(socket);
    const end = (): void => {
      lines.delete(socket);
      socket.destroy();
      through.destroy();
    };
    for (const one of [socket, through]) one.on('error', end).on('close', end);
    socket.pipe(through).pipe(socket);
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));

  return {
    host: 'localhost',
    port: (door.address() as AddressInfo).port,
    authority,
    ca: ca.certificate,
    projectId,
    accounts,
    account,
    secrets,
    permissions,
    calls: log.calls,
    fail: (fault) => log.fail(fault),
    heal: () => {
      log.heal();
      authority.heal();
    },
    forget: () => {
      log.reset();
      authority.forget();
    },
    stop: async () => {
      for (const line of lines) line.destroy();
      await new Promise((resolve) => door.close(resolve));
      server.forceShutdown();
      await authority.stop();
    },
  };
}

interface Wire {
  readonly service: protoLoader.ServiceDefinition;
  /** `grpc-status-details-bin`: a google.rpc.Status with what Google's services put into it. */
  details(refusal: GrpcRefusal, requestId: string, retryAfter: number | undefined): Buffer;
}

function loadProtos(): Wire {
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

type Work = (request: Message) => Message;

/** The calls, each with the permission it needs. */
class SecretManager {
  readonly #secrets: SecretManagerStore;
  readonly #ids: readonly string[];
  readonly #number: string;
  readonly #pageSize: number;
  readonly rules: Readonly<Record<string, readonly [SecretManagerPermission, Work]>>;

  constructor(secrets: SecretManagerStore, projectId: string, projectNumber: string, pageSize: number) {
    this.#secrets = secrets;
    this.#ids = [projectId, projectNumber];
    this.#number = projectNumber;
    this.#pageSize = pageSize;
    this.rules = {
      createSecret: ['secrets.create', (request) => this.#create(request)],
      getSecret: ['secrets.get', (request) => this.#render(secrets.require(this.#secret(request['name'])))],
      listSecrets: ['secrets.list', (request) => this.#list(request)],
      updateSecret: ['secrets.update', (request) => this.#update(request)],
      deleteSecret: [
        'secrets.delete',
        (request) => {
          secrets.delete(this.#secret(request['name']), String(request['etag'] ?? ''));
          return {};
        },
      ],
      addSecretVersion: ['versions.add', (request) => this.#add(request)],
      accessSecretVersion: ['versions.access', (request) => this.#access(request)],
      getSecretVersion: [
        'versions.get',
        (request) => {
          const [id, version] = this.#version(request['name']);
          return this.#renderVersion(id, secrets.requireVersion(id, version));
        },
      ],
      listSecretVersions: ['versions.list', (request) => this.#listVersions(request)],
      enableSecretVersion: ['versions.enable', (request) => this.#move(request, 'ENABLED')],
      disableSecretVersion: ['versions.disable', (request) => this.#move(request, 'DISABLED')],
      destroySecretVersion: ['versions.destroy', (request) => this.#move(request, 'DESTROYED')],
    };
  }

  #create(request: Message): Message {
    if (!this.#ids.some((id) => request['parent'] === `projects/${id}`)) {
      throw new GrpcRefusal(
        'PERMISSION_DENIED',
        `Permission denied on resource project ${String(request['parent'])} (or it may not exist).`,
      );
    }
    const secret = (request['secret'] ?? {}) as Message;
    const created = this.#secrets.create(
      String(request['secretId'] ?? ''),
      (secret['replication'] ?? null) as Replication | null,
      { ...(secret['labels'] as Record<string, string> | undefined) },
      { ...(secret['annotations'] as Record<string, string> | undefined) },
    );
    return this.#render(created);
  }

  #update(request: Message): Message {
    const secret = (request['secret'] ?? {}) as Message;
    const paths = ((request['updateMask'] as { paths?: string[] } | null)?.paths ?? []).filter((path) => path !== '');
    if (paths.length === 0) throw new GrpcRefusal('INVALID_ARGUMENT', 'Field [update_mask] is required.');
    const unknown = paths.find((path) => path !== 'labels' && path !== 'annotations');
    if (unknown !== undefined) throw new GrpcRefusal('INVALID_ARGUMENT', `The field [${unknown}] cannot be updated.`);
    const change = Object.fromEntries(paths.map((path) => [path, { ...(secret[path] as Record<string, string> | undefined) }]));
    return this.#render(this.#secrets.update(this.#secret(secret['name']), String(secret['etag'] ?? ''), change));
  }

  #list(request: Message): Message {
    const wanted = filterOf(String(request['filter'] ?? ''));
    const found = this.#secrets.all().filter(wanted);
    const [page, nextPageToken] = this.#page(found, request);
    return { secrets: page.map((secret) => this.#render(secret)), nextPageToken, totalSize: found.length };
  }

  #listVersions(request: Message): Message {
    const id = this.#secret(request['parent']);
    const newestFirst = this.#secrets.require(id).versions.toReversed();
    const [page, nextPageToken] = this.#page(newestFirst, request);
    return { versions: page.map((version) => this.#renderVersion(id, version)), nextPageToken, totalSize: newestFirst.length };
  }

  #page<Item>(items: readonly Item[], request: Message): [page: Item[], next: string] {
    const size = Math.min(Number(request['pageSize']) || this.#pageSize, this.#pageSize);
    const from = Number(request['pageToken'] || 0);
    return [items.slice(from, from + size), from + size < items.length ? String(from + size) : ''];
  }

  #add(request: Message): Message {
    const id = this.#secret(request['parent']);
    const payload = (request['payload'] ?? {}) as Message;
    const data = Buffer.from((payload['data'] as Uint8Array | undefined) ?? []);
    const checksum = payload['dataCrc32c'];
    if (checksum !== undefined && checksum !== null && Number(checksum) !== crc32c(data)) {
      throw new GrpcRefusal('INVALID_ARGUMENT', 'The checksum of the payload does not match.');
    }
    return this.#renderVersion(id, this.#secrets.addVersion(id, data));
  }

  #access(request: Message): Message {
    const [id, wanted] = this.#version(request['name']);
    const version = this.#secrets.access(id, wanted);
    const name = `projects/${this.#number}/secrets/${id}/versions/${version.number}`;
    return { name, payload: { data: version.data, dataCrc32c: String(crc32c(version.data)) } };
  }

  #move(request: Message, state: 'ENABLED' | 'DISABLED' | 'DESTROYED'): Message {
    const [id, version] = this.#version(request['name']);
    return this.#renderVersion(id, this.#secrets.move(id, version, state, String(request['etag'] ?? '')));
  }

  #secret(name: unknown): string {
    const [, project, id] = /^projects\/([^/]+)\/secrets\/([^/]+)$/.exec(String(name)) ?? [];
    if (project === undefined || id === undefined) {
      throw new GrpcRefusal('INVALID_ARGUMENT', `The name [${String(name)}] does not match the expected format [projects/*/secrets/*].`);
    }
    if (!this.#ids.includes(project)) throw new GrpcRefusal('PERMISSION_DENIED', `Permission denied on resource project ${project}.`);
    return id;
  }

  #version(name: unknown): [secret: string, version: string] {
    const [, secret, version] = /^(projects\/[^/]+\/secrets\/[^/]+)\/versions\/(latest|\d+)$/.exec(String(name)) ?? [];
    if (secret === undefined || version === undefined) {
      throw new GrpcRefusal(
        'INVALID_ARGUMENT',
        `The name [${String(name)}] does not match the expected format [projects/*/secrets/*/versions/*].`,
      );
    }
    return [this.#secret(secret), version];
  }

  #render(secret: StoredSecret): Message {
    return {
      name: `projects/${this.#number}/secrets/${secret.id}`,
      replication: secret.replication,
      createTime: timestamp(secret.created),
      labels: secret.labels,
      annotations: secret.annotations,
      etag: secret.etag,
    };
  }

  #renderVersion(id: string, version: StoredVersion): Message {
    return {
      name: `projects/${this.#number}/secrets/${id}/versions/${version.number}`,
      createTime: timestamp(version.created),
      ...(version.destroyed !== undefined && { destroyTime: timestamp(version.destroyed) }),
      state: version.state,
      etag: version.etag,
      clientSpecifiedPayloadChecksum: true,
    };
  }
}

/** The filters that are understood: `labels.KEY:*` (the label is there) and `labels.KEY=VALUE`. */
function filterOf(filter: string): (secret: StoredSecret) => boolean {
  if (filter === '') return () => true;
  const [, key, operator, value] = /^labels\.([^:=]+)(:|=)(.*)$/.exec(filter) ?? [];
  if (key === undefined || (operator === ':' && value !== '*')) {
    throw new GrpcRefusal('INVALID_ARGUMENT', `The filter [${filter}] is not understood.`);
  }
  return ({ labels }) => (operator === ':' ? key in labels : labels[key] === value);
}

const timestamp = (milliseconds: number): Message => ({
  seconds: String(Math.floor(milliseconds / 1000)),
  nanos: Math.round((milliseconds % 1000) * 1e6),
});
