import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { makeCertificate, type CertificateOrder, type MadeCertificate } from '@strongroom/lab';
import { Certificate } from '../src/x509/certificate.ts';
import { faultOf, pathsTo } from '../src/x509/path.ts';

const NOW = Date.parse('2030-01-01T00:00:00Z');
const SERVER = '1.3.6.1.5.5.7.3.1';
const CLIENT = '1.3.6.1.5.5.7.3.2';
const [DIGITAL_SIGNATURE, KEY_ENCIPHERMENT, CERT_SIGN, CRL_SIGN] = [1, 4, 32, 64];
const PAST = new Date('2021-01-01');
const FUTURE = new Date('2040-01-01');
const NULL = Buffer.from([5, 0]);

/** Orders from the root down to the client certificate. */
interface Case {
  readonly title: string;
  readonly orders: readonly Partial<CertificateOrder>[];
  /** Undefined for a path that is good. */
  readonly fault?: RegExp;
  /** OpenSSL thinks otherwise, and why. */
  readonly openssl?: string;
}

const ca = (more: Partial<CertificateOrder> = {}): Partial<CertificateOrder> => ({ authority: true, ...more });
const constrained = (permitted: string[], excluded: string[], leaf: Partial<CertificateOrder>, fault?: RegExp): Case => ({
  title: `names ${JSON.stringify([leaf.subject, leaf.names])} under a CA that permits ${JSON.stringify(permitted)} and excludes ${JSON.stringify(excluded)}`,
  orders: [ca(), ca({ permitted, excluded }), leaf],
  ...(fault ? { fault } : {}),
});
const no = /is not permitted by a CA above it/;
const out = /is excluded by a CA above it/;

const CASES: readonly Case[] = [
  { title: 'a root and a certificate', orders: [ca(), {}] },
  { title: 'three CAs and a certificate', orders: [ca(), ca(), ca(), {}] },
  { title: 'keys of RSA', orders: [ca({ key: 'rsa' }), ca({ key: 'ec' }), { key: 'rsa' }] },
  { title: 'keys of Ed25519', orders: [ca({ key: 'ed25519' }), { key: 'ed25519' }] },
  { title: 'an expired certificate', orders: [ca(), { notAfter: PAST }], fault: /the certificate has expired on 2021-01-01/ },
  { title: 'a certificate of the future', orders: [ca(), { notBefore: FUTURE }], fault: /not valid before 2040-01-01/ },
  { title: 'an expired CA', orders: [ca(), ca({ notAfter: PAST }), {}], fault: /a CA above the certificate has expired/ },
  { title: 'an expired root', orders: [ca({ notAfter: PAST }), {}], fault: /a CA above the certificate has expired/ },
  { title: 'a certificate for servers only', orders: [ca(), { extendedKeyUsage: [SERVER] }], fault: /does not have clientAuth/ },
  { title: 'a certificate for servers and clients', orders: [ca(), { extendedKeyUsage: [SERVER, CLIENT] }] },
  { title: 'a certificate without extended key usage', orders: [ca(), { extendedKeyUsage: [] }] },
  {
    title: 'a CA for servers only',
    orders: [ca(), ca({ extendedKeyUsage: [SERVER] }), {}],
    fault: /of a CA above the certificate does not have/,
  },
  { title: 'a CA for clients', orders: [ca(), ca({ extendedKeyUsage: [CLIENT] }), {}] },
  {
    title: 'a certificate that may only encipher',
    orders: [ca(), { keyUsage: KEY_ENCIPHERMENT }],
    fault: /neither digitalSignature nor keyAgreement/,
  },
  { title: 'a certificate without key usage', orders: [ca(), { keyUsage: null }] },
  { title: 'a CA that is none', orders: [ca(), { keyUsage: DIGITAL_SIGNATURE | CERT_SIGN }, {}], fault: /is not a CA/ },
  {
    title: 'a CA that may not sign certificates',
    orders: [ca(), ca({ keyUsage: CRL_SIGN }), {}],
    fault: /is not allowed to sign certificates/,
  },
  {
    title: 'a root that may not sign certificates',
    orders: [ca({ keyUsage: CRL_SIGN }), {}],
    fault: /is not allowed to sign certificates/,
  },
  { title: 'a CA without key usage', orders: [ca(), ca({ keyUsage: null }), {}], openssl: 'its strict mode wants the extension' },
  { title: 'a path length of 0 that is kept', orders: [ca({ authority: { pathLength: 0 } }), {}] },
  {
    title: 'a path length of 0 that is exceeded',
    orders: [ca({ authority: { pathLength: 0 } }), ca(), {}],
    fault: /allows 0 CAs below it, but there are 1/,
  },
  { title: 'a path length of 1 that is kept', orders: [ca({ authority: { pathLength: 1 } }), ca(), {}] },
  {
    title: 'a path length of 1 that is exceeded',
    orders: [ca(), ca({ authority: { pathLength: 1 } }), ca(), ca(), {}],
    fault: /allows 1 CAs/,
  },
  {
    title: 'an unknown critical extension',
    orders: [ca(), { extensions: [{ oid: '1.2.3.4', critical: true, value: NULL }] }],
    fault: /critical extension 1.2.3.4 of the certificate is not known/,
  },
  {
    title: 'an unknown critical extension of a CA',
    orders: [ca(), ca({ extensions: [{ oid: '1.2.3.4', critical: true, value: NULL }] }), {}],
    fault: /of a CA above it is not known/,
  },
  { title: 'an unknown extension that is not critical', orders: [ca(), { extensions: [{ oid: '1.2.3.4', value: NULL }] }] },
  constrained(['DNS:example.org'], [], { names: ['DNS:a.example.org'] }),
  constrained(['DNS:example.org'], [], { names: ['DNS:EXAMPLE.org'] }),
  constrained(['DNS:example.org'], [], { names: ['DNS:badexample.org'] }, no),
  constrained(['DNS:example.org'], [], { names: ['DNS:a.example.org', 'DNS:a.example.com'] }, no),
  constrained(['DNS:example.org'], [], { names: ['email:a@example.com'] }),
  constrained(['DNS:example.org'], [], { subject: 'CN=a.example.com' }, no),
  constrained(['DNS:example.org'], [], { subject: 'CN=alice' }),
  constrained([], ['DNS:example.org'], { names: ['DNS:a.example.org'] }, out),
  constrained([], ['DNS:example.org'], { names: ['DNS:a.example.com'] }),
  { ...constrained([], ['DNS:secret.example.org'], { names: ['DNS:*.example.org'] }, out), openssl: 'it takes the wildcard for a name' },
  constrained(['email:example.org'], [], { names: ['email:a@example.org'] }),
  constrained(['email:example.org'], [], { names: ['email:a@sub.example.org'] }, no),
  constrained(['email:.example.org'], [], { names: ['email:a@sub.example.org'] }),
  constrained(['email:a@example.org'], [], { names: ['email:b@example.org'] }, no),
  constrained([], ['email:a@example.org'], { names: ['email:a@example.org'] }, out),
  constrained(['URI:.example.org'], [], { names: ['URI:https://a.example.org/x'] }),
  constrained(['URI:.example.org'], [], { names: ['URI:https://example.org/x'] }, no),
  constrained(['URI:example.org'], [], { names: ['URI:https://example.org:8443/x'] }),
  constrained([], ['URI:example.org'], { names: ['URI:https://example.org/x'] }, out),
  constrained(['IP:10.0.0.0/8'], [], { names: ['IP:10.1.2.3'] }),
  constrained(['IP:10.0.0.0/8'], [], { names: ['IP:11.1.2.3'] }, no),
  constrained([], ['IP:10.0.0.0/8'], { names: ['IP:10.1.2.3'] }, out),
  constrained(['IP:fd00::/8'], [], { names: ['IP:fd12::1'] }),
  constrained(['DIR:O=Lab'], [], { subject: 'O=Lab,CN=a' }),
  constrained(['DIR:O=Lab'], [], { subject: 'O=LAB,CN=a' }),
  constrained(['DIR:O=Lab'], [], { subject: 'O=Other,CN=a' }, no),
  constrained([], ['DIR:O=Lab'], { subject: 'O=Lab,CN=a' }, out),
  {
    title: 'constraints of the root hold below other CAs',
    orders: [ca({ permitted: ['DNS:a.example'] }), ca(), { names: ['DNS:b.example'] }],
    fault: no,
  },
];

function made(orders: Case['orders']): MadeCertificate[] {
  const path: MadeCertificate[] = [];
  for (const [index, order] of orders.entries()) {
    const issuer = path.at(-1);
    const subject = index === orders.length - 1 ? 'CN=client' : `CN=CA ${index}`;
    path.push(makeCertificate({ subject, ...(issuer ? { issuer } : {}), ...order }));
  }
  return path;
}

/** The verdict: undefined for a good path. */
function verdict(path: readonly MadeCertificate[]): string | undefined {
  const [root, ...rest] = path.map(({ der }) => Certificate.read(der)) as [Certificate, ...Certificate[]];
  const leaf = rest.at(-1)!;
  const found = [...pathsTo([root], leaf, rest.slice(0, -1))];
  expect(found).toHaveLength(1);
  return faultOf(found[0]!, NOW)?.reason;
}

const hasOpenssl = ((): boolean => {
  try {
    return execFileSync('openssl', ['version'], { encoding: 'utf8' }).startsWith('OpenSSL 3');
  } catch {
    return false;
  }
})();

function opensslAccepts(path: readonly MadeCertificate[]): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'path-'));
  try {
    const [root, leaf] = [path[0]!, path.at(-1)!];
    writeFileSync(join(folder, 'root.pem'), root.pem);
    writeFileSync(join(folder, 'leaf.pem'), leaf.pem);
    writeFileSync(
      join(folder, 'mid.pem'),
      path
        .slice(1, -1)
        .map(({ pem }) => pem)
        .join('') || root.pem,
    );
    const options = [
      '-purpose',
      'sslclient',
      '-attime',
      String(NOW / 1_000),
      '-CAfile',
      'root.pem',
      '-untrusted',
      'mid.pem',
      '-no-CApath',
      '-no-CAstore',
    ];
    execFileSync('openssl', ['verify', '-x509_strict', ...options, 'leaf.pem'], { cwd: folder, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('the path of a certificate', () => {
  test.each(CASES)('$title: fault $fault', ({ orders, fault }) => {
    const reason = verdict(made(orders));
    if (fault) expect(reason).toMatch(fault);
    else expect(reason).toBeUndefined();
  });

  (hasOpenssl ? test : test.skip).each(CASES.filter(({ openssl }) => openssl === undefined))(
    'has the verdict of OpenSSL: $title',
    ({ orders, fault }) => {
      expect(opensslAccepts(made(orders))).toBe(fault === undefined);
    },
  );

  test('is found among many certificates that sign each other, within a bounded number of signatures', () => {
    const key = makeCertificate({ subject: 'CN=loop', authority: true });
    const loops = Array.from({ length: 15 }, () =>
      Certificate.read(makeCertificate({ subject: 'CN=loop', keyOf: key, authority: true }).der),
    );
    const leaf = Certificate.read(makeCertificate({ subject: 'CN=leaf', issuer: key }).der);
    const stranger = Certificate.read(makeCertificate({ subject: 'CN=loop', authority: true }).der);
    expect([...pathsTo([stranger], leaf, loops)]).toEqual([]);
  });

  test('does not end at a CA of the same name and another key', () => {
    const [root, namesake] = [
      makeCertificate({ subject: 'CN=Root', authority: true }),
      makeCertificate({ subject: 'CN=Root', authority: true }),
    ];
    const leaf = Certificate.read(makeCertificate({ subject: 'CN=leaf', issuer: root }).der);
    expect([...pathsTo([Certificate.read(namesake.der)], leaf, [])]).toEqual([]);
    expect([...pathsTo([Certificate.read(namesake.der), Certificate.read(root.der)], leaf, [])]).toHaveLength(1);
  });

  test('does not begin with the CA itself', () => {
    const root = Certificate.read(makeCertificate({ subject: 'CN=Root', authority: true }).der);
    expect([...pathsTo([root], root, [])]).toEqual([]);
  });
});

describe('a certificate', () => {
  const one = makeCertificate({ subject: 'CN=a' });

  test('with something behind it cannot be read', () => {
    expect(() => Certificate.read(Buffer.concat([one.der, Buffer.from([0])]))).toThrow('there is something after the certificate');
  });

  test('with an extension twice cannot be read', () => {
    const twice = { oid: '1.2.3', value: NULL };
    expect(() => Certificate.read(makeCertificate({ subject: 'CN=a', extensions: [twice, twice] }).der)).toThrow(
      'it has the extension 1.2.3 twice',
    );
  });

  test('with any byte changed is not signed by its CA, or cannot be read', () => {
    const issuer = Certificate.read(one.der);
    for (let at = 0; at < one.der.length; at += 7) {
      const changed = Buffer.from(one.der);
      changed[at]! ^= 0x41;
      let good: boolean;
      try {
        good = Certificate.read(changed).isSignedBy(issuer);
      } catch {
        good = false;
      }
      expect({ at, good }).toEqual({ at, good: false });
    }
  });
});
