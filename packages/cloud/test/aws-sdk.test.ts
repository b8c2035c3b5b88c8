import { getMaxListeners } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { awsProvider } from '../src/aws/aws-provider.ts';
import { AwsFront, awsError, awsResult } from './aws-front.ts';
import { DEPLOY, mountCloud, REGION, rootConfig } from './cloud-mount.ts';

const WARNING = 'AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED';
const src = fileURLToPath(new URL('../src', import.meta.url));

test('no source file imports the SDK but for its types: it is loaded by the first call', async () => {
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
  expect(files.length).toBeGreaterThan(20);
  const importing = files.filter((name) => /^import (?!type )[^;]*'@aws-sdk\//m.test(readFileSync(join(src, name), 'utf8')));
  expect(importing).toEqual([]);
});

test('the SDK is configured not to warn about the version of Node before it is loaded', async () => {
  delete process.env[WARNING];
  const front = await AwsFront.start();
  const mount = await mountCloud();
  const key = { access_key: 'AKIAROOTROOTROOTROOT', secret_key: 's' };
  await mount.write('config/root', rootConfig(front.endpoint, key, { max_retries: 0 }));
  await mount.write('roles/deploy', { credential_type: 'assumed_role', role_arns: DEPLOY });
  expect(process.env[WARNING]).toBeUndefined();
  front.on('AssumeRole', () => awsError(403, 'AccessDenied', 'no'));
  await mount.call('read', 'aws/creds/deploy');
  expect(process.env[WARNING]).toBe('true');
  await mount.close();
  await front.stop();
});

test('many calls of one request do not look like a leak to Node, which would write so into the log', async () => {
  const front = await AwsFront.start();
  const accessKey = { access_key: 'AKIAROOTROOTROOTROOT', secret_key: 's' };
  const noFallback = { sts_region: '', sts_fallback_endpoints: [], sts_fallback_regions: [] };
  const [iam_endpoint, sts_endpoint] = [front.endpoint, front.endpoint];
  const session = awsProvider.open({ accessKey, region: REGION, iam_endpoint, sts_endpoint, max_retries: 0, ...noFallback });
  const { signal } = new AbortController();
  const users = Array.from({ length: 40 }, (_, i) => `<member><UserName>u${i}</UserName></member>`).join('');
  front.on('ListUsers', () => awsResult('ListUsers', `<Users>${users}</Users><IsTruncated>false</IsTruncated>`));
  front.on('ListUserTags', () => awsResult('ListUserTags', '<Tags/><IsTruncated>false</IsTruncated>'));
  expect(await session.taggedUsers('a', 'b', signal)).toEqual([]);
  expect(front.sent('ListUserTags')).toHaveLength(40);
  // Eight calls at a time, each of which listens more than once at times, and the listeners of the request itself; Node warns of more than its limit, ten.
  expect(getMaxListeners(signal)).toBe(Infinity);
  session.close();
  await front.stop();
});
