/**
 * XML. Unlike in HTML every element is closed, or the file does not parse.
 */
import type { Language } from '../src/syntax/language.js'

export const language: Language = {
  name: 'xml',
  extensions: [
    '.xml',
    '.xsd',
    '.xsl',
    '.xslt',
    '.svg',
    '.plist',
    '.csproj',
    '.props',
    '.targets',
    '.wsdl',
    '.rss',
    '.atom',
  ],
  fileNames: ['pom.xml'],
  sources: [
    {
      package: '@cursorless/tree-sitter-wasms',
      file: 'out/tree-sitter-xml.wasm',
      sha256: 'df7ecdb323ebd1b1114915d04b638ac7f5065d91114172414f324ab4bb1fa3f8',
    },
  ],
  sample: '<?xml version="1.0"?>\n<a b="c">\n  <d/>\n</a>\n',
  // The root element opens too: beside it there may be a prolog and comments.
  opens: ['element', 'Attribute', 'CDSect', 'doctypedecl', 'elementdecl', 'AttlistDecl', 'GEDecl', 'PI'],
  containers: ['document', 'prolog', 'content'],
  clauses: [],
  closers: ['ETag'],
  comments: ['Comment'],
}
