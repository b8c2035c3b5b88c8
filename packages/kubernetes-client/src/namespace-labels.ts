import { objectOf, unexpectedAnswer, type ApiServer } from './api-server.ts';

/** The labels of a namespace, or why they are not known. */
export type NamespaceLabels =
  | { readonly result: 'labels'; readonly labels: Readonly<Record<string, string>> }
  | { readonly result: 'unknown' }
  | { readonly result: 'asker refused'; readonly status: number; readonly reason: string };

/** @throws as `ApiServer.call` */
export async function namespaceLabels(api: ApiServer, namespace: string, bearer: string, signal: AbortSignal): Promise<NamespaceLabels> {
  const call = { method: 'GET', path: `/api/v1/namespaces/${encodeURIComponent(namespace)}`, bearer } as const;
  return api.call(call, signal, { bearer }, ({ status, body, message }) => {
    if (status === 401 || status === 403) return { result: 'asker refused', status, reason: message };
    if (status === 404) return { result: 'unknown' };
    if (status !== 200) throw unexpectedAnswer(status, message);
    const metadata = objectOf(body?.['metadata']);
    if (metadata?.['name'] !== namespace) throw unexpectedAnswer(status, 'the answer is not that namespace');
    const labels = Object.entries(objectOf(metadata['labels']) ?? {}).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    );
    return { result: 'labels', labels: Object.fromEntries(labels) };
  });
}
