/** The build puts the octets of QuickJS into the program. */
declare module '@jitl/quickjs-ng-wasmfile-release-sync/wasm' {
  const octets: Uint8Array<ArrayBuffer>
  // biome-ignore lint/style/noDefaultExport: as esbuild exports a file
  export default octets
}
