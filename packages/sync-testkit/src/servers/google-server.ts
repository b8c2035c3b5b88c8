import { randomInt, randomUUID } from 'node:crypto';
import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import {
  Metadata,
  type sendUnaryData,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  status,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { CallLog, type Fault, type RecordedCall } from './faults.ts';
import { GoogleAccounts, renderGoogleRefusal, type ServiceAccountKey } from './google-accounts.ts';
import { type RunningServer, startHttpProvider } from './http-server.ts';
import { loadProtos, type Message } from './secret-manager-protos.ts';
import { type SecretManagerPermission, SecretManagerService } from './secret-manager-service.ts';
import { type GrpcCode, GrpcRefusal, SecretManagerStore } from './secret-manager-store.ts';
import { createTestCa } from './test-ca.ts';

/** What the Secret Manager of the tests is like. */
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

const AUDIENCE = 'https://secretmanager.googleapis.com/';
const LARGEST_PAGE = 25_000;

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
  const service = new SecretManagerService(secrets, projectId, projectNumber, options.pageSize ?? LARGEST_PAGE);
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
        throw new GrpcRefusal((fault.status as GrpcCode | undefined) ?? 'INTERNAL', fault.message ?? 'The test made the server fail.');
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
