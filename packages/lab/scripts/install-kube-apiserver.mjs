// kube-apiserver, built from the modules of Kubernetes into .strongroom/kube-apiserver-<version>. Prints the path of the program. Needs Go 1.24 or later, 3 GB of
// disk for Go's caches, and about six minutes, so `npm test` uses it but does not build it.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cached, printInstalled } from './cache.mjs';
import { buildGo, go } from './go.mjs';

const VERSION = '1.34.4';
const BUILD_MS = 40 * 60_000;

const MAIN = `package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

func main() {
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}
`;

/** The program. Throws with the reason if it cannot be built. */
export async function installKubeApiserver() {
  const folder = await cached(`kube-apiserver-${VERSION}`, (made) => {
    const required = `module strongroom.example/kube\n\ngo 1.24.0\n\nrequire k8s.io/kubernetes v${VERSION}\n`;
    writeFileSync(join(made, 'go.mod'), required);
    const { GoMod: file } = JSON.parse(go(['mod', 'download', '-json', `k8s.io/kubernetes@v${VERSION}`], made));
    // Kubernetes builds its parts from folders of its own tree. Outside of it, each part is a module with the same minor version.
    const parts = [...readFileSync(file, 'utf8').matchAll(/^\s*(k8s\.io\/[a-z-]+) => \.\/staging/gm)].map(([, part]) => part);
    const replaced = parts.map((part) => `replace ${part} => ${part} v0.${VERSION.slice(VERSION.indexOf('.') + 1)}\n`);
    writeFileSync(join(made, 'go.mod'), required + replaced.join(''));
    writeFileSync(join(made, 'main.go'), MAIN);
    go(['mod', 'tidy'], made, BUILD_MS);
    const variables = `-X k8s.io/component-base/version.gitVersion=v${VERSION}`;
    buildGo('kube-apiserver', made, { variables, timeout: BUILD_MS });
    for (const name of ['go.mod', 'go.sum', 'main.go']) rmSync(join(made, name), { force: true });
  });
  return join(folder, 'kube-apiserver');
}

await printInstalled(import.meta.url, installKubeApiserver);
