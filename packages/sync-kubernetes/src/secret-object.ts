import { objectOf } from '@strongroom/kubernetes-client';
import { ExternalServiceError, formatMark, parseMark, type PutRequest, type RemoteSecret } from '@strongroom/sync-sdk';
import { listOf } from './api-refusal.ts';

/** As the API server knows who set a field. */
export const FIELD_MANAGER = 'strongroom';
export const DESTINATION_LABEL = 'strongroom.io/destination';
const OWNER_ANNOTATION = 'strongroom.io/owner';

/** The key of a value that has none. */
const ONLY_KEY = 'value';

/** The texts of a Secret by key. */
export function fieldsOf({ fields, value }: Pick<PutRequest, 'fields' | 'value'>): Readonly<Record<string, string>> {
  return fields ?? { [ONLY_KEY]: value };
}

/** Which object may be changed: the one with this uid, as it was at this version. A version alone: none that exists. */
export interface Precondition {
  readonly uid?: string | undefined;
  readonly resourceVersion?: string | undefined;
}

/**
 * The object as it is applied. Its texts are `data`, not `stringData`: with that, the API server would not notice that somebody else has changed them.
 */
export function secretObject(request: PutRequest, type: string, { uid, resourceVersion }: Precondition): object {
  const data = Object.entries(fieldsOf(request)).map(([key, text]) => [key, Buffer.from(text).toString('base64')] as const);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: request.name,
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
      labels: {
        ...request.tags,
        'app.kubernetes.io/managed-by': 'strongroom',
        hashicorp: 'vault',
        [DESTINATION_LABEL]: request.mark.destination,
      },
      annotations: { [OWNER_ANNOTATION]: formatMark(request.mark) },
    },
    type,
    data: Object.fromEntries(data),
  };
}

/** What the metadata of an object say. @throws ExternalServiceError where they are none */
export function remoteSecret(object: Readonly<Record<string, unknown>> | undefined): RemoteSecret {
  const { name, uid, resourceVersion, creationTimestamp, annotations } = objectOf(object?.['metadata']) ?? {};
  if (typeof name !== 'string' || typeof uid !== 'string' || typeof resourceVersion !== 'string') {
    throw new ExternalServiceError('the answer of the Kubernetes API server is no object: is there a proxy in between?');
  }
  const text = objectOf(annotations)?.[OWNER_ANNOTATION];
  const mark = parseMark(typeof text === 'string' ? text : undefined);
  const created = Date.parse(String(creationTimestamp));
  return {
    name,
    ...(mark ? { mark } : {}),
    identity: uid,
    revision: resourceVersion,
    ...(Number.isNaN(created) ? {} : { createdAt: new Date(created) }),
  };
}

/** The keys that a Secret holds, as the records of who set them name them: without the texts. */
export function heldKeys(object: Readonly<Record<string, unknown>> | undefined): string[] {
  const keys = listOf(objectOf(object?.['metadata'])?.['managedFields']).flatMap(({ fieldsV1 }) =>
    ['f:data', 'f:stringData'].flatMap((part) => Object.keys(objectOf(objectOf(fieldsV1)?.[part]) ?? {})),
  );
  return [...new Set(keys.filter((key) => key.startsWith('f:')).map((key) => key.slice(2)))];
}
