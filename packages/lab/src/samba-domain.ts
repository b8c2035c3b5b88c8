import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

export const domain = {
  realm: 'corp.example',
  domain: 'CORP',
  baseDn: 'DC=corp,DC=example',
  usersDn: 'CN=Users,DC=corp,DC=example',
} as const;
export const adminPassword = 'Passw0rd!23';
/** The interpreter of `samba-tool`, which finds Samba's modules; another `python3` may come first in PATH. */
const python = '/usr/bin/python3';
export const binary = ['/usr/sbin/samba', '/usr/local/samba/sbin/samba'].find((path) => existsSync(path));
export const tool = ['/usr/bin/samba-tool', '/usr/local/samba/bin/samba-tool'].find((path) => existsSync(path));
const setup = ['/usr/share/samba/setup', '/usr/local/samba/share/setup'].find((path) => existsSync(`${path}/provision.ldif`));

/** Why tests against Samba cannot run here; undefined when they can. */
export const sambaMissing =
  binary === undefined || tool === undefined
    ? "Samba's domain controller is not installed (Debian: samba-ad-dc)"
    : setup === undefined
      ? 'the files that a domain is made of are not installed (Debian: samba-ad-provision)'
      : process.platform !== 'linux'
        ? 'only Linux has a loopback address for every server'
        : process.getuid?.() !== 0
          ? 'Samba needs root: its ports are 389 and 636'
          : undefined;

/** The folder of a domain as `samba-tool domain provision` makes it, kept among the things of this repository that can be made again. */
export async function domainTemplate(): Promise<string> {
  const version = (await run(binary!, ['--version'])).stdout
    .replace(/[^0-9.]+/g, ' ')
    .trim()
    .split(' ')[0]!;
  const folder = join(dirname(fileURLToPath(import.meta.url)), '../../../.strongroom', `samba-${version}`);
  if (existsSync(folder)) return folder;
  await mkdir(dirname(folder), { recursive: true });
  const scratch = await mkdtemp(`${folder}.making-`);
  try {
    const flags = [
      '--server-role=dc',
      '--use-rfc2307',
      '--dns-backend=NONE',
      '--host-name=dc1',
      '--host-ip=127.0.0.1',
      `--adminpass=${adminPassword}`,
    ];
    const names = [`--realm=${domain.realm.toUpperCase()}`, `--domain=${domain.domain}`, `--targetdir=${scratch}`];
    await run(tool!, ['domain', 'provision', ...names, ...flags]);
    const where = ['-s', join(scratch, 'etc/smb.conf'), '-H', join(scratch, 'private/sam.ldb')];
    const rules = ['--complexity=off', '--history-length=0', '--min-pwd-age=0', '--max-pwd-age=0', '--min-pwd-length=4'];
    await run(tool!, ['domain', 'passwordsettings', 'set', ...rules, ...where]);
    await rename(scratch, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
    return folder;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** Applies LDIF to a domain's database; see `SambaServer.apply`. */
export async function applyLdifTo(privateFolder: string, config: string, ldif: string, bare: boolean): Promise<void> {
  const started = run(python, ['-c', applyScript, config, privateFolder, bare ? 'bare' : 'whole']);
  started.child.stdin!.end(ldif);
  await started.catch((error: { stderr?: string }) => {
    throw new Error(`Samba refuses the LDIF: ${error.stderr?.match(/^[\w.]*Error.*$/m)?.[0] ?? String(error)}`);
  });
}

const applyScript = `
import sys, ldb
from samba.auth import system_session
from samba.param import LoadParm
from samba.samdb import SamDB
lp = LoadParm()
lp.load(sys.argv[1])
if sys.argv[3] == 'bare':
    sam = ldb.Ldb()
    sam.connect('tdb://' + sys.argv[2] + '/sam.ldb.d/DC=CORP,DC=EXAMPLE.ldb')
else:
    sam = SamDB(url=sys.argv[2] + '/sam.ldb', session_info=system_session(), lp=lp)
sam.transaction_start()
for change, message in sam.parse_ldif(sys.stdin.read()):
    if change == ldb.CHANGETYPE_DELETE:
        sam.delete(message.dn)
    elif change == ldb.CHANGETYPE_MODIFY:
        sam.modify(message)
    else:
        sam.add(message)
sam.transaction_commit()
`;
