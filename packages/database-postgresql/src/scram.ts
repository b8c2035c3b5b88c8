import { createHash, createHmac, pbkdf2, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(pbkdf2);
const ITERATIONS = 4096;

/**
 * The verifier that PostgreSQL stores for a password (RFC 5803): `SCRAM-SHA-256$4096:<salt>$<stored key>:<server key>`. Sent in place of the
 * password, it keeps the password out of the server's logs and of everything on the way.
 */
export async function scramVerifier(password: string, salt: Buffer = randomBytes(16)): Promise<string> {
  const salted = await derive(saslPrepare(password), salt, ITERATIONS, 32, 'sha256');
  const hmac = (text: string): Buffer => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest();
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey.toString('base64')}:${hmac('Server Key').toString('base64')}`;
}

/** RFC 4013 as far as it changes passwords: blanks of other scripts, characters that are mapped to nothing, and NFKC. */
function saslPrepare(password: string): string {
  return password
    .replace(/\p{Zs}/gu, ' ')
    .replace(/[\u00ad\u034f\u1806\u180b-\u180d\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]/g, '')
    .normalize('NFKC');
}
