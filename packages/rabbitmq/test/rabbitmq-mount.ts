import type { CoreResponse } from '@strongroom/core';
import { mountForTest, type TestMount, type TestMountOptions } from '@strongroom/engine-testkit';
import type { RabbitmqServer } from '@strongroom/lab';
import { rabbitmqEngine } from '../src/index.ts';

/** What `config/connection` takes for the server. */
export function connectionTo({ url, username, password }: RabbitmqServer, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { connection_uri: url, username, password, ...more };
}

/** The engine at `rabbitmq/`, configured for the server. */
export async function mountRabbitmq(server: RabbitmqServer, options: TestMountOptions = {}): Promise<TestMount> {
  const mount = await mountForTest(rabbitmqEngine, { path: 'rabbitmq', ...options });
  await mount.write('config/connection', connectionTo(server));
  return mount;
}

/** The data of an answer that must be there. */
export function dataOf<T>(answer: CoreResponse): T {
  return answer.data as T;
}

export const EVERYTHING = JSON.stringify({ '/': { configure: '.*', write: '.*', read: '.*' } });
