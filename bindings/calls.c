/* phalanx_core._calls: Place, Release and Replan for Python at a fifth of the price of a call
 * through CFFI. They keep the GIL, since they are shorter than giving it up and taking it back. */
#define Py_LIMITED_API 0x030b0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "phalanx.h"

#define MOVES_MAX 255

typedef struct calls {
    PyObject_HEAD phx_planner *planner;
    PyObject *owner; /* keeps the planner alive */
    struct answer {
        phx_repair repair;
        phx_move moves[MOVES_MAX];
    } answer;
} calls;

static PyObject *calls_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *address = NULL;
    PyObject *owner = NULL;
    (void)kwargs;
    if (!PyArg_ParseTuple(args, "OO", &address, &owner)) {
        return NULL;
    }
    phx_planner *planner = PyLong_AsVoidPtr(address);
    if (planner == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "Calls: the planner's address is 0");
        }
        return NULL;
    }
    calls *self = (calls *)(void *)PyType_GenericAlloc(type, 0);
    if (self != NULL) {
        self->planner = planner;
        self->owner = Py_NewRef(owner);
    }
    return (PyObject *)self;
}

static void calls_free(PyObject *object)
{
    PyTypeObject *type = Py_TYPE(object);
    Py_DECREF(((calls *)(void *)object)->owner);
    PyObject_Free(object);
    Py_DECREF(type);
}

static PyObject *calls_place(PyObject *object, PyObject *request)
{
    const phx_request *shape = PyLong_AsVoidPtr(request);
    if (shape == NULL) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "place: the request's address is 0");
        }
        return NULL;
    }
    return PyLong_FromLongLong(phx_place(((calls *)(void *)object)->planner, shape));
}

/* A slot from Python; PHX_NONE where it is none, with an error set where it is no number. */
static uint32_t slot_of(PyObject *number)
{
    const unsigned long long slot = PyLong_AsUnsignedLongLong(number);
    return slot < PHX_LEAVES_MAX ? (uint32_t)slot : PHX_NONE;
}

static PyObject *calls_release(PyObject *object, PyObject *number)
{
    const uint32_t slot = slot_of(number);
    if (slot == PHX_NONE && PyErr_Occurred()) {
        return NULL;
    }
    return PyLong_FromLong((long)phx_release(((calls *)(void *)object)->planner, slot));
}

static PyObject *calls_replan(PyObject *object, PyObject *number)
{
    calls *self = (calls *)(void *)object;
    const uint32_t slot = slot_of(number);
    if (slot == PHX_NONE && PyErr_Occurred()) {
        return NULL;
    }
    struct answer *answer = &self->answer;
    const phx_status status = phx_replan(self->planner, slot, NULL, 0, NULL, PHX_REPLAN_APPLY,
                                         answer->moves, MOVES_MAX, &answer->repair);
    if (status != PHX_OK) {
        Py_RETURN_NONE;
    }
    const size_t size = sizeof answer->repair + answer->repair.moves * sizeof answer->moves[0];
    return PyBytes_FromStringAndSize((const char *)answer, (Py_ssize_t)size);
}

static PyMethodDef methods[] = {
    {"place", calls_place, METH_O,
     PyDoc_STR("phx_place of a request given by its address: the packed word, or minus a status.")},
    {"release", calls_release, METH_O, PyDoc_STR("phx_release of a slot: the status.")},
    {"replan", calls_replan, METH_O,
     PyDoc_STR("phx_replan of a slot, applied: phx_repair and its moves, or None where the status "
               "is not OK and nothing changed.")},
    {NULL, NULL, 0, NULL}};

static PyType_Slot slots[] = {
    {Py_tp_new, (void *)calls_new},
    {Py_tp_dealloc, (void *)calls_free},
    {Py_tp_methods, methods},
    {Py_tp_doc, (void *)PyDoc_STR("Calls(address, owner): the hot calls of one phx_planner, which "
                                  "the owner keeps alive.")},
    {0, NULL}};

static PyType_Spec spec = {"phalanx_core._calls.Calls", sizeof(calls), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE, slots};

static int add_type(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, NULL);
    const int failed = type == NULL || PyModule_AddType(module, (PyTypeObject *)type) < 0;
    Py_XDECREF(type);
    return failed ? -1 : 0;
}

static PyModuleDef_Slot module_slots[] = {{Py_mod_exec, (void *)add_type}, {0, NULL}};

static PyModuleDef module = {PyModuleDef_HEAD_INIT,
                             "phalanx_core._calls",
                             PyDoc_STR("The hot calls of the core."),
                             0,
                             NULL,
                             module_slots,
                             NULL,
                             NULL,
                             NULL};

PyMODINIT_FUNC PyInit__calls(void)
{
    return PyModuleDef_Init(&module);
}
