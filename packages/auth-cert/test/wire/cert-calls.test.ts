import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import type { Core } from '@strongroom/core';
import { type Asked, checkedCore, type Difference, type RecordedCall, recordedCalls, type WireAnswer } from '@strongroom/engine-testkit';
import { createHttpServer } from '@strongroom/http';
import { makeCertificate, makeRevocationList, startRevocationServer, type MadeCertificate, type RevocationServer } from '@strongroom/lab';
import { memoryStorage } from '@strongroom/storage-sdk';
import { Agent, request, type Dispatcher } from 'undici';
import { certAuth } from '../../src/index.ts';

const calls = JSON.parse(readFileSync(new URL('./cert-calls.json', import.meta.url), 'utf8')) as RecordedCall[];
const utf8 = (text: string): Buffer => Buffer.concat([Buffer.from([0x0c, text.length]), Buffer.from(text)]);

const ca = makeCertificate({ subject: 'CN=Lab Root', authority: true });
const ca2 = makeCertificate({ subject: 'CN=Other Root', authority: true });
const inter = makeCertificate({ subject: 'CN=Lab Intermediate', issuer: ca, authority: { pathLength: 0 } });
const server = makeCertificate({ subject: 'CN=localhost', issuer: ca, names: ['IP:127.0.0.1'], extendedKeyUsage: ['1.3.6.1.5.5.7.3.1'] });
const clients: Readonly<Record<string, MadeCertificate>> = {
  alice: makeCertificate({
    subject: 'OU=eng,CN=alice',
    issuer: ca,
    names: ['DNS:alice.example.org', 'email:alice@example.org', 'URI:spiffe://lab/alice'],
    extensions: [{ oid: '1.2.3.4.5', value: utf8('blue') }],
  }),
  bob: makeCertificate({ subject: 'OU=ops,CN=bob', issuer: ca }),
  mallory: makeCertificate({ subject: 'OU=eng,CN=mallory', issuer: ca }),
  nocn: makeCertificate({ subject: 'OU=eng', issuer: ca, names: ['DNS:nocn.example.org'] }),
  srvonly: makeCertificate({ subject: 'CN=srvonly', issuer: ca, extendedKeyUsage: ['1.3.6.1.5.5.7.3.1'] }),
  expired: makeCertificate({ subject: 'CN=expired', issuer: ca, notAfter: new Date('2021-01-01') }),
  chained: makeCertificate({ subject: 'OU=eng,CN=chained', issuer: inter }),
  twin: makeCertificate({ subject: 'OU=eng,CN=alice', issuer: ca2 }),
  lonely: makeCertificate({ subject: 'CN=lonely' }),
};

const mistake = (text: string | RegExp): Difference => ({
  why: 'A mistake of the caller is a 400, and its text is plain.',
  status: 400,
  errors: [text],
});
const differences: Record<number, Difference> = {
  20: mistake(
    /^1 error occurred:\n\t\* failed to renew entry: client identity during renewal not matching client identity used during login\n\n$/,
  ),
  31: mistake(/^failed to verify client's certificate: the certificate has expired on 2021-01-01/),
  32: mistake("failed to verify client's certificate: the extended key usage of the certificate does not have clientAuth"),
  33: mistake('missing name in alias: the subject of the certificate has no common name'),
};

describe('the recorded calls of the certificate login, over TLS', () => {
  let core: Core;
  let listener: Server;
  let authority: RevocationServer;
  const agents = new Map<string | undefined, Agent>();

  beforeAll(async () => {
    core = await checkedCore({ storage: memoryStorage(), plugins: [certAuth], devRootToken: 'root' });
    listener = createHttpServer(core, {
      tls: { cert: server.pem, key: server.key, requestCert: true, rejectUnauthorized: false },
      trustedProxies: ['127.0.0.1'],
      forwardedCertificate: { header: 'X-Forwarded-Tls-Client-Cert' },
    }) as Server;
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    authority = await startRevocationServer(ca);
    const [thisUpdate, nextUpdate] = [new Date(), new Date(Date.now() + 86_400_000)];
    authority.files.set('/lab/crl.der', makeRevocationList(ca, { revoked: [clients['mallory']!], thisUpdate, nextUpdate }));
    authority.answer = (serial) => ({ status: serial === clients['mallory']!.serial ? 'revoked' : 'good', thisUpdate, nextUpdate });
  });
  afterAll(async () => {
    await Promise.all([...agents.values()].map(async (agent) => agent.close()));
    listener?.closeAllConnections();
    listener?.close();
    await core?.close();
    await authority?.stop();
  });

  const agentOf = (name: string | undefined): Agent => {
    const client = name === undefined ? undefined : clients[name]!;
    const made = agents.get(name) ?? new Agent({ connect: { ca: ca.pem, ...(client ? { cert: client.chain, key: client.key } : {}) } });
    agents.set(name, made);
    return made;
  };
  const ask = async (call: string, { body, token, headers = {} }: Asked): Promise<WireAnswer> => {
    const [method, path] = call.split(' ') as [Dispatcher.HttpMethod, string];
    const { 'x-lab-cert': name, ...others } = headers;
    const { port } = listener.address() as AddressInfo;
    const answer = await request(`https://127.0.0.1:${port}/v1/${path}`, {
      method,
      dispatcher: agentOf(name),
      headers: { ...others, ...(token === undefined ? {} : { 'x-vault-token': token }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.body.text();
    return { status: answer.statusCode, body: text === '' ? undefined : JSON.parse(text) };
  };

  recordedCalls(
    { test },
    {
      calls,
      ask,
      differences,
      extraKeys: ['.data.prefix_alias_with_issuer'],
      values: () => ({
        ca: ca.pem,
        lonely: clients['lonely']!.pem,
        srvonly: clients['srvonly']!.pem,
        crl: `-----BEGIN X509 CRL-----\n${authority.files.get('/lab/crl.der')!.toString('base64')}\n-----END X509 CRL-----\n`,
        hop: authority.url,
        ocsp: `${authority.url}/ocsp`,
        hdralice: clients['alice']!.der.toString('base64'),
        hdrbob: clients['bob']!.der.toString('base64'),
      }),
    },
  );
});
