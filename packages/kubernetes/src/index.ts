export { kubernetesEngine, kubernetesEngineWith, type KubernetesEngineOptions } from './kubernetes-engine.ts';
