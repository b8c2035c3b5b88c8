import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * Emulates IAM and STS in a separate process, so that its work is not measured: each call is answered after a number of milliseconds, however many
 * come at once, and nothing is checked or kept. Tells its port, and when the process that started it asks, the most calls it had at one time.
 */
const delay = Number(process.argv[2]);
let now = 0;
let most = 0;
let made = 0;

const server = createServer((request, response) => {
  now += 1;
  most = Math.max(most, now);
  let body = '';
  request.setEncoding('utf8').on('data', (text: string) => (body += text));
  request.on('end', () => {
    const action = new URLSearchParams(body).get('Action') ?? '';
    setTimeout(() => {
      now -= 1;
      response.writeHead(200, { 'content-type': 'text/xml' }).end(answer(action));
    }, delay);
  });
});
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on('message', () => process.send!({ most }));
process.on('disconnect', () => process.exit());

function answer(action: string): string {
  const namespace = action === 'AssumeRole' ? 'https://sts.amazonaws.com/doc/2011-06-15/' : 'https://iam.amazonaws.com/doc/2010-05-08/';
  return (
    `<${action}Response xmlns="${namespace}"><${action}Result>${resultOf(action)}</${action}Result>` +
    `<ResponseMetadata><RequestId>6f9c1d1e-0b6f-4b8e-9a53-3f1c3a8d2b10</RequestId></ResponseMetadata></${action}Response>`
  );
}

function resultOf(action: string): string {
  made += 1;
  if (action === 'CreateUser') {
    return `<User><UserId>AIDAEXAMPLE${made}</UserId><Arn>arn:aws:iam::123456789012:user/bench</Arn></User>`;
  }
  if (action === 'CreateAccessKey') {
    return `<AccessKey><AccessKeyId>AKIAEXAMPLE${made}</AccessKeyId><SecretAccessKey>no-secret-of-anybody</SecretAccessKey></AccessKey>`;
  }
  if (action !== 'AssumeRole') return '';
  const expires = new Date(Date.now() + 3_600_000).toISOString();
  return (
    '<AssumedRoleUser><Arn>arn:aws:sts::123456789012:assumed-role/deploy/bench</Arn></AssumedRoleUser>' +
    '<Credentials><AccessKeyId>ASIAEXAMPLEEXAMPLE00</AccessKeyId><SecretAccessKey>no-secret-of-anybody</SecretAccessKey>' +
    `<SessionToken>${'t'.repeat(400)}</SessionToken><Expiration>${expires}</Expiration></Credentials>`
  );
}
