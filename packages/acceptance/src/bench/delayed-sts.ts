import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Plays AssumeRole of STS, which answers after a while of its own, however many ask. */
export interface DelayedSts {
  readonly endpoint: string;
  /** The most requests that it had before it at one time. */
  mostAtOnce(): number;
  stop(): Promise<void>;
}

export async function startDelayedSts(milliseconds: number): Promise<DelayedSts> {
  let now = 0;
  let most = 0;
  const server = createServer((request, response) => {
    now += 1;
    most = Math.max(most, now);
    request.resume();
    setTimeout(() => {
      now -= 1;
      response.writeHead(200, { 'content-type': 'text/xml' }).end(answer());
    }, milliseconds);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    mostAtOnce: () => most,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answer(): string {
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  return (
    '<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult>' +
    '<AssumedRoleUser><AssumedRoleId>AROAEXAMPLE:bench</AssumedRoleId><Arn>arn:aws:sts::123456789012:assumed-role/deploy/bench</Arn></AssumedRoleUser>' +
    `<Credentials><AccessKeyId>ASIAEXAMPLEEXAMPLE00</AccessKeyId><SecretAccessKey>no-secret-of-anybody</SecretAccessKey>` +
    `<SessionToken>${'t'.repeat(400)}</SessionToken><Expiration>${expires}</Expiration></Credentials>` +
    '</AssumeRoleResult><ResponseMetadata><RequestId>6f9c1d1e-0b6f-4b8e-9a53-3f1c3a8d2b10</RequestId></ResponseMetadata></AssumeRoleResponse>'
  );
}
