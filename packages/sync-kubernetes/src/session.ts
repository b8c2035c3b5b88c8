import { objectOf } from '@strongroom/kubernetes-client';
import {
  ClientSideError,
  ExternalServiceError,
  NameTaken,
  SessionCalls,
  type DestinationHost,
  type DestinationSession,
  type ListRequest,
  type PutRequest,
  type ReadRequest,
  type RemoteSecret,
  type RemoveRequest,
} from '@strongroom/sync-sdk';
import { apiCall, type ApiCall, type Target } from './api-call.ts';
import { ApiRefusal, listOf, translateApiError } from './api-refusal.ts';
import type { KubernetesConnection } from './connection.ts';
import { DESTINATION_LABEL, FIELD_MANAGER, fieldsOf, heldKeys, remoteSecret, secretObject, type Precondition } from './secret-object.ts';

const PAGE = 100;
/** Answers hold metadata alone: no value comes back. */
const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1';
const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
/** No object has it: etcd's first revision is its own. Where it is asked for, an apply can only create. */
const OF_NO_OBJECT = '1';

/** Secrets in one namespace, by server-side apply. */
export class KubernetesSession implements DestinationSession {
  readonly #connection: KubernetesConnection;
  readonly #host: DestinationHost;
  readonly #target: () => Promise<Target>;
  readonly #calls: SessionCalls;

  /** `target`: asked before each call, since Kubernetes replaces the token and the CA of a pod. */
  constructor(connection: KubernetesConnection, host: DestinationHost, target: () => Promise<Target>) {
    this.#connection = connection;
    this.#host = host;
    this.#target = target;
    this.#calls = new SessionCalls((error) => translateApiError(error, host.now()), [connection.service_account_jwt]);
  }

  async read({ name, signal }: ReadRequest): Promise<RemoteSecret | undefined> {
    return await this.#calls.run(signal, async () => {
      try {
        return remoteSecret(await this.#call({ method: 'GET', path: this.#path(name), accept: METADATA }, signal));
      } catch (error) {
        if (error instanceof ApiRefusal && error.isAbsenceOf(name)) return undefined;
        throw error;
      }
    });
  }

  async put(request: PutRequest): Promise<RemoteSecret> {
    return await this.#calls.run(request.signal, async () => this.#write(request), request.value);
  }

  async remove({ name, current, signal }: RemoveRequest): Promise<void> {
    await this.#calls.run(signal, async () => {
      const json = { kind: 'DeleteOptions', apiVersion: 'v1', preconditions: { uid: current.identity } };
      try {
        await this.#call({ method: 'DELETE', path: this.#path(name), body: { type: 'application/json', json } }, signal);
      } catch (error) {
        if (error instanceof ApiRefusal && error.isAbsenceOf(name)) return;
        throw this.#explained(name, error);
      }
    });
  }

  list({ destination, signal }: ListRequest): AsyncIterable<RemoteSecret> {
    return this.#calls.each(signal, () => this.#listOurs(destination, signal));
  }

  async close(): Promise<void> {
    this.#calls.close();
  }

  async #write(request: PutRequest): Promise<RemoteSecret> {
    const { current, name } = request;
    const expected: Precondition = current
      ? { uid: current.identity, resourceVersion: current.revision }
      : { resourceVersion: OF_NO_OBJECT };
    const apply = async (force: boolean): Promise<Readonly<Record<string, unknown>> | undefined> => {
      const json = secretObject(request, this.#connection.secret_type, expected);
      const path = `${this.#path(name)}?fieldManager=${FIELD_MANAGER}&force=${force}`;
      return this.#call({ method: 'PATCH', path, accept: METADATA, body: { type: 'application/apply-patch+yaml', json } }, request.signal);
    };
    try {
      const applied = await apply(false).catch(async (error: unknown) => {
        const owners = current && ownersIn(error);
        if (!owners?.length) throw error;
        // The host has seen the edit, as another revision, and has decided that it may be replaced.
        this.#host.log.warn('a Secret that somebody else has changed is replaced', { secret: this.#title(name), owners });
        return apply(true);
      });
      return await this.#withoutOthers(request, applied);
    } catch (error) {
      throw this.#explained(name, error);
    }
  }

  /** Kubernetes keeps the keys that others have set. The Secret is to hold what the secret holds, so they go. */
  async #withoutOthers(request: PutRequest, applied: Readonly<Record<string, unknown>> | undefined): Promise<RemoteSecret> {
    const { name, signal } = request;
    const written = remoteSecret(applied);
    const fields = fieldsOf(request);
    const others = heldKeys(applied).filter((key) => !Object.hasOwn(fields, key));
    if (others.length === 0) return written;
    this.#host.log.warn('keys that somebody else has set in a Secret are removed', { secret: this.#title(name), keys: others });
    const json = {
      metadata: { uid: written.identity, resourceVersion: written.revision },
      data: Object.fromEntries(others.map((key) => [key, null])),
    };
    const path = `${this.#path(name)}?fieldManager=${FIELD_MANAGER}`;
    const body = { type: 'application/merge-patch+json', json };
    return remoteSecret(await this.#call({ method: 'PATCH', path, accept: METADATA, body }, signal));
  }

  async *#listOurs(destination: string, signal: AbortSignal): AsyncGenerator<RemoteSecret> {
    let next = '';
    do {
      const query = new URLSearchParams({ labelSelector: `${DESTINATION_LABEL}=${destination}`, limit: String(PAGE) });
      if (next !== '') query.set('continue', next);
      const page = await this.#call({ method: 'GET', path: `${this.#path()}?${query.toString()}`, accept: METADATA_LIST }, signal);
      if (page?.['items'] === undefined) throw new ExternalServiceError('the answer of the Kubernetes API server is no list');
      for (const item of listOf(page['items'])) {
        const secret = remoteSecret(item);
        if (secret.mark?.destination === destination) yield secret;
      }
      const more = objectOf(page['metadata'])?.['continue'];
      next = typeof more === 'string' ? more : '';
    } while (next !== '');
  }

  /** @throws ApiRefusal, and what the socket says */
  async #call(call: ApiCall, signal: AbortSignal): Promise<Readonly<Record<string, unknown>> | undefined> {
    const answer = await apiCall(this.#host.network, await this.#target(), call, signal);
    if (answer.status < 200 || answer.status >= 300) throw new ApiRefusal(answer);
    return answer.body;
  }

  #path(name?: string): string {
    const all = `/api/v1/namespaces/${encodeURIComponent(this.#connection.namespace)}/secrets`;
    return name === undefined ? all : `${all}/${encodeURIComponent(name)}`;
  }

  #title(name: string): string {
    return `${this.#connection.namespace}/${name}`;
  }

  /** What a refusal means to whoever runs the destination. */
  #explained(name: string, error: unknown): unknown {
    if (!(error instanceof ApiRefusal)) return error;
    const { status, causes, reason: providerCode, answer } = error;
    const details = { providerCode, requestId: answer.auditId };
    if (status === 409) return new NameTaken(`somebody else has made or changed the Secret ${this.#title(name)} meanwhile`, details);
    if (status !== 422) return error;
    if (causes.some(({ field, message }) => field === 'data' && message.includes('immutable'))) {
      const text = `the Secret ${this.#title(name)} is immutable and is not replaced: delete it, or have another name with secret_name_template`;
      return new ClientSideError(text, details);
    }
    if (causes.some(({ field, message }) => field === 'type' && message.includes('immutable'))) {
      const { secret_type: type } = this.#connection;
      return new ClientSideError(
        `the Secret ${this.#title(name)} has another type than ${type}, and Kubernetes changes no types: delete it, or change secret_type`,
        details,
      );
    }
    return error;
  }
}

/** Who owns the fields that an apply would have taken; empty for any other error. */
function ownersIn(error: unknown): string[] {
  if (!(error instanceof ApiRefusal) || error.status !== 409) return [];
  return error.causes.filter(({ reason }) => reason === 'FieldManagerConflict').map(({ field, message }) => `${field}: ${message}`);
}
