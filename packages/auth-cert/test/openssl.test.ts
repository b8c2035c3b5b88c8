import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { makeCertificate } from '@strongroom/lab';
import { RevocationList } from '../src/crl/revocation-list.ts';
import { derOf } from '../src/crl/list-store.ts';
import { ocspQuestion } from '../src/ocsp/ocsp-request.ts';
import { readOcspResponse } from '../src/ocsp/ocsp-response.ts';
import { Certificate } from '../src/x509/certificate.ts';

const missing = ((): string | undefined => {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'the program openssl is not installed';
  }
})();

const CONFIG = `[ca]
default_ca = d
[d]
database = index.txt
crlnumber = crlnumber
certificate = ca.pem
private_key = ca.key
default_md = sha256
default_crl_days = 7
`;

(missing === undefined ? describe : describe.skip)('what OpenSSL makes', () => {
  const root = makeCertificate({ subject: 'CN=Root', authority: true });
  const alice = makeCertificate({ subject: 'CN=alice', issuer: root });
  const mallory = makeCertificate({ subject: 'CN=mallory', issuer: root });
  const authority = Certificate.read(root.der);
  let folder: string;
  const openssl = (...words: string[]): void => void execFileSync('openssl', words, { cwd: folder, stdio: 'ignore' });

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'openssl-'));
    const files = { 'ca.pem': root.pem, 'ca.key': root.key, 'mallory.pem': mallory.pem, 'index.txt': '', crlnumber: '01\n', cnf: CONFIG };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const serial = alice.serial.toString(16).toUpperCase();
    writeFileSync(join(folder, 'index.txt'), `V\t350101000000Z\t\t${serial.length % 2 ? '0' : ''}${serial}\tunknown\t/CN=alice\n`);
    openssl('ca', '-config', 'cnf', '-revoke', 'mallory.pem', '-crl_reason', 'keyCompromise');
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  test('a revocation list is read, and signed by its CA', () => {
    openssl('ca', '-config', 'cnf', '-gencrl', '-out', 'crl.pem');
    const list = RevocationList.read(derOf(readFileSync(join(folder, 'crl.pem'), 'utf8')));
    expect(list.isOf(authority)).toBe(true);
    expect(list.serials()).toEqual([mallory.serial.toString()]);
    expect([list.revokes(mallory.serial), list.revokes(alice.serial)]).toEqual([true, false]);
    expect(list.nextUpdate! - list.thisUpdate).toBe(7 * 86_400_000);
  });

  test.each([
    ['alice', alice, 'good'],
    ['mallory', mallory, 'revoked'],
  ])('an OCSP response answers our request about %s', (_, made, status) => {
    const question = ocspQuestion(Certificate.read(made.der), authority, Buffer.alloc(16, 7));
    writeFileSync(join(folder, 'request'), question.request);
    openssl(...'ocsp -index index.txt -rsigner ca.pem -rkey ca.key -CA ca.pem -ndays 1 -reqin request -respout response'.split(' '));
    const response = readFileSync(join(folder, 'response'));
    expect(readOcspResponse(response, question, [], Date.now())).toMatchObject({ status });
    const other = ocspQuestion(Certificate.read(made.der), authority, Buffer.alloc(16, 8));
    expect(() => readOcspResponse(response, other, [], Date.now())).toThrow('it answers another request');
  });
});
